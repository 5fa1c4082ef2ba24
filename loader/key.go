package loader

// Key is a program name as the kernel's map has it.
func Key(comm string) string { return comm }
