//go:build faultpoints

package fault

import (
	"os"
	"reflect"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []order
		bad        bool
	}{
		{"nothing", "", nil, false},
		{"kill", "stopped:self-kill", []order{{"stopped", "self-kill", 0}}, false},
		{"two", "seized:tracee-kill,placed:sleep=30", []order{{"seized", "tracee-kill", 0}, {"placed", "sleep", 30 * time.Millisecond}}, false},
		{"no act", "stopped", nil, true},
		{"no point", ":self-kill", nil, true},
		{"unknown act", "stopped:explode", nil, true},
		{"no number", "stopped:sleep=long", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.text)
			if (err != nil) != tt.bad || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestHasComm(t *testing.T) {
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	if !hasComm(os.Getpid(), string(comm[:len(comm)-1])) || hasComm(os.Getpid(), "another") || hasComm(-1, "another") {
		t.Error("the comm of this process is not its own")
	}
}
