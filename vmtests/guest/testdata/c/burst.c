// burst COUNT WIDTH PROGRAM   runs PROGRAM 0 exit 7 COUNT times, WIDTH at once
//
// Says how many of them ended with 7, and fails if one did not.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count, width, started = 0, running = 0, good = 0, status;

	if (argc != 4)
		return 2;
	count = atoi(argv[1]);
	width = atoi(argv[2]);
	while (started < count || running > 0) {
		if (started < count && running < width) {
			pid_t pid = vfork();

			if (pid == 0) {
				execl(argv[3], argv[3], "0", "exit", "7", (char *)NULL);
				_exit(127);
			}
			if (pid < 0) {
				perror("vfork");
				return 3;
			}
			started++;
			running++;
			continue;
		}
		if (wait(&status) < 0) {
			perror("wait");
			return 3;
		}
		running--;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
			good++;
		else
			printf("status %#x\n", status);
	}
	printf("%d of %d\n", good, count);
	return good != count;
}
