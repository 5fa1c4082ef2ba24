// Headroomd keeps heavy commands (package installs, compilers, test suites)
// from taking the whole memory of a small machine.
//
// This package talks to people: it wires the sources, the classifier and the
// governor together for `headroomd serve`, and shows what they know in the
// other commands, one file each. The words, the JSON fields and the exit codes
// of the commands are a contract: 0 done, 1 failed, 2 wrong usage.
package main
