package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/governor"
)

// makeIn runs make in the module's root.
func makeIn(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed: the Makefile cannot be tried")
	}
	cmd := exec.CommandContext(t.Context(), "make", args...)
	cmd.Dir = moduleRoot(t)
	// This process may itself run below make, whose flags are not meant here.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "MFLAGS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestInstall(t *testing.T) {
	// What is put in place does not matter here, only where and how.
	build := t.TempDir()
	binary := filepath.Join(build, "headroomd")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, prefix, bin, unit string }{
		{"by hand", "/usr/local", "usr/local/bin/headroomd", "usr/local/lib/systemd/system/headroomd.service"},
		{"packaged", "/usr", "usr/bin/headroomd", "usr/lib/systemd/system/headroomd.service"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			args := []string{"BUILD_DIR=" + build, "SOURCES=", "DESTDIR=" + root, "PREFIX=" + tt.prefix}
			makeIn(t, append(args, "install")...)

			if info, err := os.Stat(filepath.Join(root, tt.bin)); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the binary: %v, %v", info, err)
			}
			unit, err := os.ReadFile(filepath.Join(root, tt.unit))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"\nExecStart=/" + tt.bin + " serve\n", "\nExecStopPost=/" + tt.bin + " release --after-stop=%n\n"} {
				if !strings.Contains(string(unit), want) {
					t.Errorf("the unit has no %q", want)
				}
			}

			// An owner's settings outlive an upgrade and an uninstall.
			settings := filepath.Join(root, "etc/headroom/headroom.toml")
			if err := os.WriteFile(settings, []byte("mode = \"observe\"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			makeIn(t, append(args, "install")...)
			makeIn(t, append(args, "uninstall")...)
			if got, err := os.ReadFile(settings); err != nil || string(got) != "mode = \"observe\"\n" {
				t.Errorf("settings after install and uninstall: %q, %v", got, err)
			}
			for _, gone := range []string{tt.bin, tt.unit} {
				if _, err := os.Stat(filepath.Join(root, gone)); !os.IsNotExist(err) {
					t.Errorf("%s is still there: %v", gone, err)
				}
			}
		})
	}
}

// The settings file that is installed is the one that the code documents.
// HEADROOM_UPDATE=1 writes it anew.
func TestSettingsFile(t *testing.T) {
	const path = "headroom.toml"
	if os.Getenv("HEADROOM_UPDATE") != "" {
		if err := os.WriteFile(path, governor.DefaultFile(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(governor.DefaultFile()) {
		t.Errorf("%s is not what the code says; HEADROOM_UPDATE=1 go test ./cmd/headroomd writes it", path)
	}
}

// A unit of which a block lost its reason, or that would keep the governor
// from its work, is found here and not on somebody's machine.
func TestUnit(t *testing.T) {
	data, err := os.ReadFile("headroomd.service")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	_, body, _ := strings.Cut(text, "\n[Service]\n")
	body, _, _ = strings.Cut(body, "\n[Install]\n")
	for block := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if !strings.HasPrefix(block, "#") {
			t.Errorf("a block without a reason:\n%s", block)
		}
	}
	for _, line := range []string{"Type=notify", "NotifyAccess=main", "RestrictRealtime=no", "ProtectControlGroups=no", "ProtectHome=read-only", "OOMScoreAdjust=-900"} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	// A machine that thrashes must not have its guard shot.
	if _, after, ok := strings.Cut(text, "\nWatchdogSec="); !ok {
		t.Error("no watchdog: a governor that hangs would keep what it holds")
	} else if s, err := strconv.Atoi(after[:strings.Index(after, "\n")]); err != nil || s < 30 {
		t.Errorf("WatchdogSec=%d, %v", s, err)
	}
	for _, word := range []string{"\nPrivateNetwork=yes", "\nProtectProc=", "\nPrivatePIDs=", "\nPrivateUsers=", "\nDelegate="} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in it", word)
		}
	}
}

// What systemd itself says about the unit, with a program in it that is here.
func TestUnitBySystemd(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed: nothing here reads units")
	}
	data, err := os.ReadFile("headroomd.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "headroomd.service")
	text := strings.ReplaceAll(string(data), "=/usr/bin/headroomd ", "=/bin/true ")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
