package classifier

import (
	"errors"
	"testing"
)

func TestBuiltinParses(t *testing.T) {
	if _, faults := load(nil); len(faults) > 0 {
		t.Fatal(errors.Join(faults...))
	}
}
