// beat PATH   asks a child of its own every 100 ms for an answer, as a client
//             asks a server, and keeps the longest time that one took too long
//             in the file, in milliseconds
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long worst = 0, last;
	int pair[2], fd;
	char c = 0, text[32];

	if (argc != 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	if (fork() == 0) {
		close(pair[0]);
		while (read(pair[1], &c, 1) == 1)
			if (write(pair[1], &c, 1) != 1)
				return 1;
		return 0;
	}
	close(pair[1]);
	fd = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0644);
	if (fd < 0)
		return 3;
	for (last = now();;) {
		usleep(100000);
		if (write(pair[0], &c, 1) != 1 || read(pair[0], &c, 1) != 1)
			return 4;
		if (now() - last - 100 > worst) {
			worst = now() - last - 100;
			sprintf(text, "%-10ld\n", worst);
			pwrite(fd, text, strlen(text), 0);
		}
		last = now();
	}
}
