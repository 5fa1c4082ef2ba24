package classifier

import "fmt"

// FileError is one fault in a file of rules.
type FileError struct {
	File string
	Line int // from 1; 0 when unknown
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Err)
}

// Unwrap gives the fault without its place.
func (e *FileError) Unwrap() error { return e.Err }
