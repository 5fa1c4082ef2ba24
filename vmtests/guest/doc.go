// Package guest is what the tests inside the virtual machine are made of: a
// login session with an interactive shell, the daemon as a system service,
// cgroups, bystanders. The tests themselves are in the _test files; package
// vmtests boots a machine and runs them there as root.
//
// They do what would hurt a real machine, so each begins with InVM, which skips
// everywhere else. In the machine nothing may be skipped: the host takes a skip
// for a failure. They share one machine and are never parallel; each leaves it
// as it found it. The machine runs under software emulation: wait for
// conditions (Eventually), compare ratios, and never sleep for a fixed time and
// then look.
//
// What the daemon says is decoded here anew (Status, Event) and not through the
// daemon's own types: the words are a contract with programs that do not have
// those types.
package guest
