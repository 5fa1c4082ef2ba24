package contain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// aProcess writes what mayMove reads of a made-up one.
func aProcess(t *testing.T, root string, pid int, uid, euid uint32, nohup bool) proc.ID {
	return aProcessOf(t, root, pid, 10, 34816, uid, euid, nohup)
}

func aProcessOf(t *testing.T, root string, pid, ppid, tty int, uid, euid uint32, nohup bool) proc.ID {
	t.Helper()
	dir := filepath.Join(root, fmt.Sprint(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ignored := 0
	if nohup {
		ignored = 1
	}
	files := map[string]string{
		"stat": fmt.Sprintf("%d (make) S %d %d %d %d -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, ppid, pid, pid, tty),
		"status": fmt.Sprintf("Name:\tmake\nUid:\t%d\t%d\t%d\t%d\nSigPnd:\t0\nShdPnd:\t0\nSigBlk:\t0000000000000000\nSigIgn:\t%016x\nSigCgt:\t0000000000000000\n",
			uid, euid, euid, euid, ignored),
		"cgroup":   "0::/user.slice/user-1000.slice/session-2.scope\n",
		"loginuid": fmt.Sprint(uid),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return proc.ID{PID: pid, Start: 77}
}

func TestMayMove(t *testing.T) {
	const session = "/user.slice/user-1000.slice/session-2.scope"
	tests := []struct {
		name      string
		cgroup    string
		uid, euid uint32
		nohup     bool
		lingers   bool
		refuse    string // "" if it may be moved
	}{
		{"a session of his own", session, 1000, 1000, false, false, ""},
		{"his own manager's", "/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope", 1000, 1000, false, false, ""},
		{"another user's", session, 1001, 1001, false, true, "belongs to uid 1001"},
		{"a set-id program", session, 1000, 0, false, true, "belongs to uid 1000"},
		{"a service of the system's", "/system.slice/ci.service", 1000, 1000, false, true, "only root"},
		{"a session of another user's", "/user.slice/user-1001.slice/session-3.scope", 1000, 1000, false, true, "only root"},
		{"nohup without lingering", session, 1000, 1000, true, false, "enable-linger"},
		{"nohup with lingering", session, 1000, 1000, true, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			u := &ofUser{uid: 1000, manager: "user-1000"}
			if tt.lingers {
				u.linger = root
			}
			id := aProcess(t, root, 500, tt.uid, tt.euid, tt.nohup)
			got, err := u.mayMove(ParseOrigin(tt.cgroup), proc.Exec{ID: id}, proc.NewFS(root))
			if err != nil {
				t.Fatal(err)
			}
			if (got == "") != (tt.refuse == "") || !strings.Contains(got, tt.refuse) {
				t.Errorf("got %q, want %q", got, tt.refuse)
			}
		})
	}
}

// TestMayMoveSetsid: who started it is gone and there is no terminal.
func TestMayMoveSetsid(t *testing.T) {
	const session = "/user.slice/user-1000.slice/session-2.scope"
	tests := []struct {
		name      string
		ppid, tty int
		refuse    bool
	}{
		{"an agent's command", 10, 0, false},
		{"at a terminal", 1, 34816, false},
		{"left to init", 1, 0, true},
		{"left to the user's manager", 20, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			aProcessOf(t, root, 20, 1, 0, 1000, 1000, false)
			if err := os.WriteFile(filepath.Join(root, "20", "cgroup"),
				[]byte("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			u := &ofUser{uid: 1000, manager: "user-1000"}
			id := aProcessOf(t, root, 500, tt.ppid, tt.tty, 1000, 1000, false)
			got, err := u.mayMove(ParseOrigin(session), proc.Exec{ID: id}, proc.NewFS(root))
			if err != nil || (got != "") != tt.refuse {
				t.Errorf("got %q, %v; want it refused: %v", got, err, tt.refuse)
			}
		})
	}
}

// TestUserPlaced: what comes from a session goes to the user's own manager; what
// is there already stays in its slice.
func TestUserPlaced(t *testing.T) {
	u := &ofUser{uid: 1000, manager: "user-1000"}
	o := u.placed(ParseOrigin("/user.slice/user-1000.slice/session-2.scope"))
	if o.Manager != "user-1000" || o.Slice != userSlice || o.PartOf != "" || o.Kind != "session" {
		t.Errorf("from a session: %+v", o)
	}
	at := ParseOrigin("/user.slice/user-1000.slice/user@1000.service/work.slice/x.scope")
	if got := u.placed(at); got != at {
		t.Errorf("from his own tree: %+v, want it as it was", got)
	}
	if !u.owns("/user.slice/user-1000.slice/user@1000.service/app.slice/headroom-x-1.scope") ||
		u.owns("/user.slice/user-1001.slice/user@1001.service/app.slice/headroom-x-1.scope") {
		t.Error("whose scopes are his")
	}
}

func TestUserManagerProbe(t *testing.T) {
	run := t.TempDir()
	m := places{runUser: run, euid: 1000}
	if err := m.userManager(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "enable-linger") {
		t.Errorf("without a manager: %v; want it unsupported, with what to do", err)
	}
	if err := os.MkdirAll(filepath.Join(run, "1000", "systemd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "1000", "systemd", "private"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.userManager(); err != nil {
		t.Errorf("with one: %v", err)
	}
}
