package main

import "errors"

// The exit codes.
const (
	exitFailed        = 1
	exitUsage         = 2
	exitRefused       = 75 // EX_TEMPFAIL: it may be tried again
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// exitStatus is what the program ends with after an error; nil is 0.
func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if with := (exitError{}); errors.As(err, &with) {
		return with.code
	}
	if usage := (usageError{}); errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}
