// hog MB exit STATUS           touches MB megabytes at full speed, then exits
// hog MB after SECONDS STATUS  ... then exits after a time
// hog MB hold                  ... then waits to be killed
// hog MB notify                ... then tells systemd that it is ready, and waits
// hog MB burn SECONDS STATUS   ... then computes for a time, then exits
// hog MB write KB              ... then writes so much, and exits
// hog MB read                  ... then reads until the end, and exits
// hog MB await PATH            ... then looks for a file until it is there, and exits
// hog MB create PATH           ... then makes that file, and waits to be killed
// hog MB fork N SECONDS        ... then has N children that share it, for a time
// hog MB map PATH SECONDS      ... then reads a file through a mapping, and stays
// hog MB grow RATE LIMIT       ... then takes RATE MB more a second until it has
//                              LIMIT, and waits to be killed
//
// It is built static and takes its memory in one piece, so that nothing comes
// before the first touched page but the C library's start.
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int notify(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (!path || fd < 0 || strlen(path) >= sizeof(to.sun_path))
		return 1;
	memcpy(to.sun_path, path, strlen(path));
	if (to.sun_path[0] == '@')
		to.sun_path[0] = 0;
	return sendto(fd, "READY=1", 7, 0, (struct sockaddr *)&to,
		      offsetof(struct sockaddr_un, sun_path) + strlen(path)) != 7;
}

static void burn(int seconds)
{
	struct timespec now;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + seconds;
	while (now.tv_sec < end)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static int move(int reading, long kb)
{
	static char block[1024];

	if (reading) {
		ssize_t n;

		while ((n = read(0, block, sizeof(block))) > 0)
			;
		return n < 0;
	}
	while (kb-- > 0)
		if (write(1, block, sizeof(block)) != sizeof(block))
			return 5;
	return 0;
}

static int share(int children, int seconds)
{
	for (int i = 0; i < children; i++)
		if (fork() == 0) {
			sleep(seconds);
			_exit(0);
		}
	sleep(seconds);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int map(const char *path, int seconds)
{
	struct stat st;
	volatile char *file, sum = 0;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		return 6;
	file = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return 6;
	for (off_t at = 0; at < st.st_size; at += 4096)
		sum += file[at];
	sleep(seconds);
	return 0;
}

static void grow(long have, long rate, long limit)
{
	struct timespec tick = { .tv_nsec = 50000000 };
	size_t step = (rate << 20) / 20, left = (limit - have) << 20, at;

	while (have < limit && left >= step) {
		char *more = mmap(NULL, step, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (more == MAP_FAILED)
			return;
		for (at = 0; at < step; at += 4096)
			more[at] = 1;
		left -= step;
		nanosleep(&tick, NULL);
	}
}

int main(int argc, char **argv)
{
	size_t size, at;
	char *memory;

	if (argc < 3)
		return 2;
	size = strtoul(argv[1], NULL, 10) << 20;
	if (size) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return 3;
		madvise(memory, size, MADV_NOHUGEPAGE);
		for (at = 0; at < size; at += 4096)
			memory[at] = 1;
	}
	if (!strcmp(argv[2], "exit"))
		return argc > 3 ? atoi(argv[3]) : 0;
	if (!strcmp(argv[2], "after") && argc > 4) {
		sleep(atoi(argv[3]));
		return atoi(argv[4]);
	}
	if (!strcmp(argv[2], "burn") && argc > 4) {
		burn(atoi(argv[3]));
		return atoi(argv[4]);
	}
	if (!strcmp(argv[2], "write") && argc > 3)
		return move(0, atol(argv[3]));
	if (!strcmp(argv[2], "read"))
		return move(1, 0);
	if (!strcmp(argv[2], "await") && argc > 3) {
		while (access(argv[3], F_OK))
			usleep(100000);
		return 0;
	}
	if (!strcmp(argv[2], "fork") && argc > 4)
		return share(atoi(argv[3]), atoi(argv[4]));
	if (!strcmp(argv[2], "map") && argc > 4)
		return map(argv[3], atoi(argv[4]));
	if (!strcmp(argv[2], "grow") && argc > 4)
		grow(atol(argv[1]), atol(argv[3]), atol(argv[4]));
	if (!strcmp(argv[2], "create") && argc > 3)
		close(open(argv[3], O_CREAT | O_WRONLY, 0600));
	if (!strcmp(argv[2], "notify") && notify())
		return 4;
	for (;;)
		pause();
}
