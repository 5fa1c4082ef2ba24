/* Touches memory at full speed from its first instruction on, and then spins,
   for some 20 s at most. Without a C library, whose start would touch memory
   and take time. */
static volatile char area[64 << 20];

void _start(void)
{
	for (int pass = 0; pass < 1000000; pass++)
		for (unsigned long i = 0; i < sizeof area; i += 4096)
			area[i] = 1;
	__builtin_trap();
}
