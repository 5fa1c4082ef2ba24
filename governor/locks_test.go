package governor

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

type fakeLocks struct {
	fd  int
	err error
}

func (f fakeLocks) HoldsLock(int) (int, bool, error) { return f.fd, f.fd >= 0, f.err }

func TestLockHeld(t *testing.T) {
	tests := []struct {
		name  string
		table fakeLocks
		want  string // "" may be held
	}{
		{"no lock", fakeLocks{fd: -1}, ""},
		{"lock", fakeLocks{fd: 9}, "descriptor 9"},
		{"gone", fakeLocks{fd: -1, err: fmt.Errorf("read: %w", proc.ErrGone)}, ""},
		{"unreadable", fakeLocks{fd: -1, err: errors.New("broken")}, "cannot be told (broken)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lockHeld(7, tt.table)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
