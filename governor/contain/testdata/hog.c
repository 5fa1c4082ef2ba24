/* Touches memory at full speed from its first instruction on, and then spins.
   Without a C library, whose start would touch memory and take time. */
static volatile char area[64 << 20];

void _start(void)
{
	for (;;)
		for (unsigned long i = 0; i < sizeof area; i += 4096)
			area[i] = 1;
}
