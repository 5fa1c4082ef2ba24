package governor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func someHeld(n int) heldJob {
	unit := fmt.Sprintf("headroom-npm-%d.scope", n)
	return heldJob{
		Job: fmt.Sprintf("npm-%d", n), Unit: unit, Cgroup: "/user.slice/user-1000.slice/" + unit,
		Root: proc.ID{PID: 800 + n, Start: 77}, Since: time.Unix(1000, 0).UTC(), User: 1000, UID: 1000,
		Patience: 300, Command: "npm test", Family: "npm", Rule: "npm.test", Cwd: "/home/u",
	}
}

func TestHeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held.json")
	log, out := textLog()
	now := time.Unix(2000, 0)
	if got := loadHeld(path, log, now); len(got) != 0 || out.Len() > 0 {
		t.Errorf("of no file: %v, log %q", got, out)
	}
	want := []heldJob{someHeld(1), someHeld(2)}
	text, err := heldText(append(want, heldJob{Job: "asked", Root: proc.ID{PID: 9, Start: 9}}))
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, text); err != nil {
		t.Fatal(err)
	}
	got := loadHeld(path, log, now)
	if len(got) != 2 || out.Len() > 0 {
		t.Fatalf("read %v, log %q", got, out)
	}
	for _, h := range want {
		if got[h.Unit] != h {
			t.Errorf("got %+v, want %+v", got[h.Unit], h)
		}
	}
	if p := got[want[0].Unit].patience(); p != 5*time.Minute {
		t.Errorf("patience %v", p)
	}
}

func TestHeldFileOfOthers(t *testing.T) {
	now := time.Unix(2000, 0)
	change := func(do func(*heldJob)) string {
		h := someHeld(1)
		do(&h)
		text, err := json.Marshal(heldJobs{Version: heldVersion, Jobs: []heldJob{h, someHeld(2)}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tests := []struct {
		name, text string
		want       int
		log        string
	}{
		{"as it was", change(func(*heldJob) {}), 2, ""},
		{"no JSON", "][", 0, "cannot be read"},
		{"an array", "[]", 0, "cannot be read"},
		{"another version", `{"version":9,"jobs":[]}`, 0, "version 9"},
		{"empty", "", 0, "empty"},
		{"none", `{"version":1,"jobs":[]}`, 0, ""},
		{"another unit", change(func(h *heldJob) { h.Unit = "ssh.service" }), 1, "no job's unit"},
		{"no job", change(func(h *heldJob) { h.Job = "" }), 1, "no job's unit"},
		{"another's cgroup", change(func(h *heldJob) { h.Cgroup = "/system.slice/ssh.service" }), 1, "not its unit's"},
		{"a way out", change(func(h *heldJob) { h.Cgroup = "/a/../" + h.Unit }), 1, "not its unit's"},
		{"pid 1", change(func(h *heldJob) { h.Root.PID = 1 }), 1, "no process"},
		{"half an identity", change(func(h *heldJob) { h.Root.Start = 0 }), 1, "no process"},
		{"never asked", change(func(h *heldJob) { h.Since = time.Time{} }), 1, "since when"},
		{"patient for years", change(func(h *heldJob) { h.Patience = 1e9 }), 1, "for how long"},
		{"less than no patience", change(func(h *heldJob) { h.Patience = -1 }), 1, "for how long"},
		{"endless command", change(func(h *heldJob) { h.Command = strings.Repeat("x", maxHeldText+1) }), 1, "too long"},
		{"endless directory", change(func(h *heldJob) { h.Cwd = strings.Repeat("x", 4*maxHeldText+1) }), 1, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "held.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			log, out := textLog()
			if got := loadHeld(path, log, now); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
			if (tt.log == "") != (out.Len() == 0) || !strings.Contains(out.String(), tt.log) {
				t.Errorf("log %q, want %q", out, tt.log)
			}
		})
	}
	// A clock that was put back does not make somebody wait from the future on.
	path := filepath.Join(t.TempDir(), "held.json")
	if err := os.WriteFile(path, []byte(change(func(h *heldJob) { h.Since = now.Add(time.Hour) })), 0o600); err != nil {
		t.Fatal(err)
	}
	log, _ := textLog()
	if got := loadHeld(path, log, now)["headroom-npm-1.scope"].Since; !got.Equal(now) {
		t.Errorf("it waits since %v", got)
	}
}

func TestHeldTextIsBounded(t *testing.T) {
	var many []heldJob
	for i := range 2 * maxHeldJobs {
		h := someHeld(i)
		h.Command = strings.Repeat("\x01", maxHeldText)
		many = append(many, h)
	}
	text, err := heldText(many)
	if err != nil || len(text) > maxKeptFile || !bytes.Contains(text, []byte("npm-0")) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func FuzzParseHeld(f *testing.F) {
	f.Add([]byte(`{"version":1,"jobs":[{"job":"a","unit":"headroom-a.scope","cgroup":"/headroom-a.scope","root":{"pid":9,"start":9},"since":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		held, _, err := parseHeld(text, time.Unix(2000, 0))
		if err != nil && held != nil {
			t.Errorf("%v, and %v", held, err)
		}
		for unit, h := range held {
			if h.Unit != unit || h.Root.PID <= 1 || h.patience() < 0 || h.Since.Unix() > 2000 {
				t.Errorf("%+v", h)
			}
		}
	})
}
