// Package doctor looks at a machine and says what it lacks for being guarded:
// one check a fact, with what that means for its owner and the exact remedy.
//
// Everything is read below a root directory; what files do not tell (whether a
// BPF program can be loaded, whether a governor answers) is handed in with the
// Options by who can ask. A check has three kinds of answer: it is so, it is
// not so, and it could not be learned, which is StateUnknown and never "is
// missing".
//
// The package also finds the other programs that act on memory or on cgroups
// here (Guards), and makes the edits of files that a check names (Edit).
package doctor
