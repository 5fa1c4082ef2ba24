// Package classifier names what a command would start on this machine: a
// package install, a compiler, a test runner, or nothing of weight.
//
// There are two entrances and one set of rules. Set.Argv judges an executed
// argument vector and looks through interpreters (node, python, java) and
// carriers (sudo, timeout, sh -c). Set.Line judges a shell line by bash's
// syntax and judges every simple command that the line would run.
//
// The rules are data: see rules/*.toml, whose first file documents each word.
// The package reads no file, asks no clock and starts no goroutine: the same
// command has the same answer everywhere. Only where the caller brings Files is
// `npm run NAME` decided by what the package.json says of it: a look-up bounded
// in files, bytes and depth, which falls back on the name.
package classifier
