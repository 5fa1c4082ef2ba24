/* Waits in vfork for a child that lives for the seconds of its argument: no
   stop reaches it meanwhile. Then it goes on. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (vfork() == 0) {
		usleep((useconds_t)(atof(argv[1]) * 1e6));
		_exit(0);
	}
	alarm(120); /* a test that was itself killed leaves nothing behind */
	for (;;)
		pause();
}
