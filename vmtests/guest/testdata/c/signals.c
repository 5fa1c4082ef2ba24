// signals KIND COUNT MAX_US PROGRAM
//
// Runs PROGRAM 1 hold COUNT times and sends each one signal at a moment between
// 0 and MAX_US after its start. KIND "term": it must die of SIGTERM. KIND
// "stop": it must be seen stopped, go on at SIGCONT, and die of SIGTERM then.
// A signal that is lost is told after 20 s and ends the run with 1.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static int run;

static void lost(int sig)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "lost: run %d, process %d\n", run, child);

	write(1, text, n);
	_exit(1);
}

static int await(int options)
{
	int status;

	while (waitpid(child, &status, options) != child)
		if (errno != EINTR)
			return -1;
	return status;
}

int main(int argc, char **argv)
{
	int stop, count, status;
	long max_us;

	if (argc != 5)
		return 2;
	stop = !strcmp(argv[1], "stop");
	count = atoi(argv[2]);
	max_us = atol(argv[3]);
	srandom(1);
	signal(SIGALRM, lost);
	for (run = 0; run < count; run++) {
		long us = random() % max_us;
		struct timespec wait = { us / 1000000, us % 1000000 * 1000 };

		child = vfork();
		if (child == 0) {
			execl(argv[4], argv[4], "1", "hold", (char *)NULL);
			_exit(127);
		}
		nanosleep(&wait, NULL);
		alarm(20);
		if (stop) {
			kill(child, SIGSTOP);
			status = await(WUNTRACED);
			if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) {
				printf("run %d: status %#x in place of a stop\n", run, status);
				return 1;
			}
			kill(child, SIGCONT);
		}
		kill(child, SIGTERM);
		status = await(0);
		alarm(0);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) {
			printf("run %d: status %#x in place of a death by SIGTERM\n", run, status);
			return 1;
		}
	}
	printf("%d signals\n", count);
	return 0;
}
