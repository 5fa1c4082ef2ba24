/* A process of several threads, by its second argument:
   churn   threads start threads and end, all the time
   zombie  the first thread ends, the others go on
   exec    a thread that is not the first calls exec of argv[2...] when a byte
           comes in on descriptor 0 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char **command;

static void *spin(void *arg)
{
	for (;;)
		if (arg)
			usleep(100);
	return 0;
}

static void *churn(void *arg)
{
	pthread_t next;
	pthread_attr_t attr;
	usleep(50);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (pthread_create(&next, &attr, churn, 0))
		usleep(100);
	return 0;
}

static void *become(void *arg)
{
	char c;
	if (read(0, &c, 1) == 1)
		execv(command[0], command);
	_exit(3);
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc < 2)
		return 2;
	alarm(120); /* a test that was itself killed leaves nothing behind */
	for (int i = 0; i < 3; i++)
		pthread_create(&t, 0, spin, &t);
	if (!strcmp(argv[1], "churn"))
		for (int i = 0; i < 4; i++)
			pthread_create(&t, 0, churn, 0);
	if (!strcmp(argv[1], "exec")) {
		command = argv + 2;
		pthread_create(&t, 0, become, 0);
	}
	if (!strcmp(argv[1], "zombie"))
		pthread_exit(0);
	for (;;)
		pause();
}
