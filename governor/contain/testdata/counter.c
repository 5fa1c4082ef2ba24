/* Counts its signals and its rounds in a file that it shares with the test.
   One thread. With a third argument it sleeps between the rounds. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile struct {
	unsigned rounds, term, cont, tstp;
} *shared;

static void count(int sig)
{
	if (sig == SIGTERM)
		shared->term++;
	else if (sig == SIGCONT)
		shared->cont++;
	else
		shared->tstp++;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	if (fd < 0)
		return 2;
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return 2;
	struct sigaction act = { .sa_handler = count, .sa_flags = SA_RESTART };
	sigaction(SIGTERM, &act, 0);
	sigaction(SIGCONT, &act, 0);
	if (argc > 3)
		sigaction(SIGTSTP, &act, 0);
	alarm(120); /* a test that was itself killed leaves nothing behind */
	for (;;) {
		shared->rounds++;
		if (argc > 2 && argv[2][0] == 's')
			usleep(200);
	}
}
