package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

const mineRule = "[[rule]]\nid = 'mine'\nfamily = 'other'\nprograms = ['mine']\nreason = 'is mine'\n"

// selfTrust is that of a governor of whoever runs the tests.
func selfTrust() trust { return trust{uid: os.Geteuid(), group: true} }

func TestRuleFiles(t *testing.T) {
	write := func(name, text string, mode fs.FileMode) func(dir string) error {
		return func(dir string) error {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(path, mode)
		}
	}
	tests := []struct {
		name  string
		make  func(dir string) error
		rule  bool   // in force
		fault string // with DIR for the directory; "" for none
	}{
		{"a file", write("a.toml", mineRule, 0o644), true, ""},
		{"group may write", write("a.toml", mineRule, 0o664), true, ""},
		{"others may write", write("a.toml", mineRule, 0o646), false, "DIR/a.toml: the file may be written to by others (mode 0646): chmod go-w it"},
		{"a hidden one", write(".a.toml", "x", 0o644), false, ""},
		{"another kind", write("a.toml.orig", "x", 0o644), false, ""},
		{"a fault", write("a.toml", "\nx = 1\n", 0o644), false, "DIR/a.toml:2: unknown key \"x\""},
		{"too large", write("a.toml", strings.Repeat("#", classifier.MaxFileBytes+1), 0o644), false, "DIR/a.toml: larger than 256 KB"},
		{"not UTF-8", write("a.toml", "# \xff", 0o644), false, "DIR/a.toml:1: not UTF-8 text"},
		{"a directory", func(dir string) error { return os.Mkdir(filepath.Join(dir, "a.toml"), 0o755) }, false, "DIR/a.toml: a directory, not an ordinary file"},
		{"a FIFO", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "a.toml"), 0o600) }, false, "DIR/a.toml: a FIFO, not an ordinary file"},
		{"a device", func(dir string) error { return os.Symlink("/dev/null", filepath.Join(dir, "a.toml")) }, false, "DIR/a.toml: a device, not an ordinary file"},
		{"a link to a file", func(dir string) error {
			if err := write("real", mineRule, 0o644)(dir); err != nil {
				return err
			}
			return os.Symlink("real", filepath.Join(dir, "a.toml"))
		}, true, ""},
		{"a link to nothing", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "a.toml")) }, false, "DIR/a.toml: no such file or directory"},
		{"a directory that others may write to", func(dir string) error {
			if err := write("a.toml", mineRule, 0o644)(dir); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		}, false, "read the rules of DIR: DIR may be written to by others (mode 0777): chmod go-w it"},
		{"no directory", func(dir string) error { return os.Remove(dir) }, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "rules.d")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			set, faults := loadRulesFrom(dir, selfTrust(), governor.Default())
			want := strings.ReplaceAll(tt.fault, "DIR", dir)
			if got := errors.Join(faults...); want == "" && got != nil || want != "" && (got == nil || got.Error() != want) {
				t.Errorf("got %v, want %q", got, want)
			}
			if got := set.Line("mine").Class == classifier.Heavy; got != tt.rule {
				t.Errorf("in force: %v, want %v", got, tt.rule)
			}
			if set.Line("make").Class != classifier.Heavy {
				t.Error("the built-in rules are out of force")
			}
		})
	}
}

// The machine's governor believes root alone.
func TestTrustOfTheMachine(t *testing.T) {
	machine := trustOf(placesOf(true))
	dir := t.TempDir()
	path := filepath.Join(dir, "a.toml")
	if err := os.WriteFile(path, []byte(mineRule), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	tests := []struct {
		name     string
		uid, gid uint32
		mode     fs.FileMode
		trust    trust
		want     string
	}{
		{"root's", 0, 0, 0o644, machine, ""},
		{"root's group may write", 0, 0, 0o664, machine, ""},
		{"another group may write", 0, 27, 0o664, machine, "written to by others"},
		{"a user's", 1000, 1000, 0o644, machine, "belongs to uid 1000, whose rules do not count here: chown it to root"},
		{"to a user his own", 1000, 1000, 0o664, trust{uid: 1000, group: true}, ""},
		{"to a user root's", 0, 0, 0o644, trust{uid: 1000, group: true}, ""},
		{"to a user another's", 1001, 1001, 0o644, trust{uid: 1000, group: true}, "chown it to uid 1000"},
		{"named by hand", 1001, 1001, 0o666, trust{anybody: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st.Uid, st.Gid = tt.uid, tt.gid
			err := tt.trust.check(path, fakeInfo{info, tt.mode})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

type fakeInfo struct {
	fs.FileInfo
	mode fs.FileMode
}

func (f fakeInfo) Mode() fs.FileMode { return f.mode }

func TestTooManyRuleFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range maxRuleFiles + 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.toml", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, faults := readRuleFiles(dir, selfTrust())
	if len(files) != maxRuleFiles || len(faults) != 1 || !strings.Contains(faults[0].Error(), "256.toml and what follows is left out") {
		t.Errorf("%d files, %v", len(files), faults)
	}
}

// A governor with a broken file starts, says so in its log and its journal, and
// goes by the rest.
func TestReportFaults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"10-broken.toml": "\nx = 1\n", "20-good.toml": mineRule} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, faults := loadRulesFrom(dir, selfTrust(), governor.Default())
	if set.Line("mine").Rule != "mine" {
		t.Error("the good file is out of force")
	}
	var log strings.Builder
	var records []journal.Record
	reportFaults(faults, slog.New(slog.NewTextHandler(&log, nil)), func(r journal.Record) { records = append(records, r) })
	want := "mistake in the rules: " + filepath.Join(dir, "10-broken.toml") + `:2: unknown key "x"`
	if len(records) != 1 || records[0].Event != journal.Rules || records[0].Reason != want {
		t.Errorf("journal: %+v, want %q", records, want)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "10-broken.toml:2") {
		t.Errorf("log: %s", log.String())
	}
	records = nil
	reportFaults(make([]error, 0), slog.New(slog.DiscardHandler), func(journal.Record) { t.Error("a record of nothing") })
	many := make([]error, maxFaultsTold+7)
	for i := range many {
		many[i] = errors.New("x")
	}
	reportFaults(many, slog.New(slog.DiscardHandler), func(r journal.Record) { records = append(records, r) })
	if len(records) != maxFaultsTold+1 || !strings.Contains(records[maxFaultsTold].Reason, "7 more;") {
		t.Errorf("%d records, the last %+v", len(records), records[len(records)-1])
	}
}

func TestRulesAtOfAUser(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "headroom", "rules.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.toml"), []byte(mineRule), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", home)
	p := placesOf(false)
	if p.rulesDir() != dir {
		t.Errorf("rules at %s, want %s", p.rulesDir(), dir)
	}
	set, faults := loadRules(p, governor.Default())
	if len(faults) > 0 || set.Line("mine").Source != filepath.Join(dir, "a.toml")+":1" {
		t.Errorf("faults %v, source %q", faults, set.Line("mine").Source)
	}
	if got := placesOf(true).rulesDir(); got != "/etc/headroom/rules.d" {
		t.Errorf("the machine's rules at %s", got)
	}
}

func TestReportAllIsTold(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 3: "a; b; c", 5: "a; b; c; and 2 more"} {
		if got := someOf(strings.Split("a b c d e", " ")[:n]); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
