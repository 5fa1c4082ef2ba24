package classifier

import "testing"

func TestBuiltinParses(t *testing.T) {
	if _, err := load(nil); err != nil {
		t.Fatal(err)
	}
}
