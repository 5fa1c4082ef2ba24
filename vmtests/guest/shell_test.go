package guest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestShell: to the shell that started it, a captured command is like any
// other. Each line is typed into one interactive bash.
func TestShell(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "hog/make")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	s.Must("cd ~/hog")
	session := CgroupOf(s.PID)

	// Each lives for three seconds: on a busy host a placing takes longer than a
	// process is held, and then one that is over at once is not placed at all.
	tests := []struct {
		name   string
		line   string
		status int
		says   string // in the output
	}{
		{name: "foreground", line: "./make 8 after 3 5", status: 5},
		{name: "bash -c", line: "bash -c './make 8 after 3 6'", status: 6},
		{name: "bash -c with more to do", line: "bash -c './make 8 after 3 7; echo left $?'", status: 0, says: "left 7"},
		{name: "sudo", line: "sudo ./make 8 after 3 8", status: 8},
		{name: "pipeline", line: "./make 8 after 3 9 | cat; echo ${PIPESTATUS[0]}", status: 0, says: "9"},
		{name: "end of a pipeline", line: "echo | ./make 8 after 3 10", status: 10},
		{name: "timeout in time", line: "timeout 60 ./make 8 after 3 11", status: 11},
		{name: "timeout too late", line: "timeout 4 ./make 8 hold", status: 124},
		{name: "strace", line: "strace -f -o /tmp/strace.out ./make 8 after 3 12", status: 12},
		{name: "substitution", line: "x=$(./make 8 after 3 13); echo $?", status: 0, says: "13"},
		{name: "gdb", line: "gdb -q -batch -ex 'set debuginfod enabled off' -ex run --args ./make 8 after 3 14", status: 0, says: "exited with code 016"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.Use(t)
			s.Use(t)
			before := len(d.Events())
			out, status := s.Run(tt.line)
			if status != tt.status || !strings.Contains(out, tt.says) {
				t.Errorf("%s: status %d, want %d, and %q in\n%s", tt.line, status, tt.status, tt.says, out)
			}
			if strings.Contains(out, "Stopped") || strings.Contains(out, "Killed") {
				t.Errorf("%s: the shell says %q", tt.line, out)
			}
			if out := s.Must("jobs"); out != "" {
				t.Errorf("jobs left: %q", out)
			}
			placed := d.Await(tt.line+" was placed", before, func(e Event) bool {
				return e.Event == "placed" && strings.Contains(e.Command, "/make 8")
			})
			if placed.Origin != string(session) || placed.Isolated == nil || !*placed.Isolated {
				t.Errorf("placed from %q, isolated %v; want %q, true", placed.Origin, placed.Isolated, session)
			}
		})
	}
}

// TestShellJobControl: Ctrl-C, Ctrl-Z, fg, bg and kill do what they do.
func TestShellJobControl(t *testing.T) {
	InVM(t)
	InstallC(t, "pi", "hog", "hog/make")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	s.Must("cd ~/hog")
	// hold starts a hog that waits to be killed and returns when it is in its
	// scope and its parent is that of any foreground command.
	hold := func(t *testing.T, line string) Event {
		t.Helper()
		before := len(d.Events())
		s.Send(line + "\n")
		return d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
	}
	t.Run("CtrlC", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		hold(t, "./make 8 hold")
		s.Send("\x03")
		if out, status := s.Wait(patience); status != 130 || strings.Contains(out, "Stopped") {
			t.Errorf("status %d\n%s", status, out)
		}
	})
	t.Run("CtrlCAtOnce", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		// While it is caught, wherever that is: the shell must come back.
		for i := range 20 {
			s.Send("./make 8 hold\n")
			Eventually(t, patience, func() string {
				if len(FindProcesses("./make 8 hold")) == 0 {
					return "it did not start"
				}
				return ""
			})
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			s.Send("\x03")
			if _, status := s.Wait(patience); status != 130 {
				t.Fatalf("round %d: status %d", i, status)
			}
		}
	})
	t.Run("CtrlZ", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		hold(t, "./make 8 hold")
		s.Send("\x1a")
		if out, status := s.Wait(patience); status != 148 || !strings.Contains(out, "Stopped") {
			t.Errorf("Ctrl-Z gives %d\n%s", status, out)
		}
		if out := s.Must("jobs"); !regexp.MustCompile(`\[1\]\+\s+Stopped\s+./make 8 hold`).MatchString(out) {
			t.Errorf("jobs says %q", out)
		}
		s.Send("fg\n")
		Eventually(t, patience, func() string {
			pids := FindProcesses("./make 8 hold")
			if len(pids) != 1 || ProcessState(pids[0]) != "S" {
				return fmt.Sprintf("after fg: processes %v", pids)
			}
			return ""
		})
		s.Send("\x03")
		if _, status := s.Wait(patience); status != 130 {
			t.Errorf("Ctrl-C after fg gives %d", status)
		}
	})
	t.Run("Background", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		before := len(d.Events())
		s.Run("./make 8 hold &")
		placed := d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
		if out := s.Must("jobs"); !regexp.MustCompile(`\[1\]\+\s+Running\s+./make 8 hold`).MatchString(out) {
			t.Errorf("jobs says %q", out)
		}
		if c := CgroupOf(placed.PID); c.Unit() != placed.Unit {
			t.Errorf("it is in %s, want %s", c, placed.Unit)
		}
		if out, status := s.Run("kill %1; wait %1"); status != 143 {
			t.Errorf("wait gives %d\n%s", status, out)
		}
	})
	t.Run("HangUp", func(t *testing.T) {
		d.Use(t)
		other := Login(t, "pi")
		other.Must("cd ~/hog")
		before := len(d.Events())
		other.Send("./make 8 hold\n")
		placed := d.Await("it was placed", before, func(e Event) bool { return e.Event == "placed" })
		other.Close()
		Eventually(t, patience, func() string {
			if Alive(placed.PID) {
				return "the command outlives its terminal"
			}
			return ""
		})
	})
	AwaitNoScopes(t)
}
