package guest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Result is the object that `headroomd run --result` leaves. Sizes are in MB.
type Result struct {
	MemoryCapMB int64    `json:"memory_cap_mb"`
	SwapCapMB   int64    `json:"swap_cap_mb"`
	Isolated    bool     `json:"isolated"`
	PeakMB      int64    `json:"peak_mb"`
	Lightened   []string `json:"lightened"`
	OOMKilled   bool     `json:"oom_killed"`
	WaitedS     float64  `json:"waited_s"`
	ExitCode    int      `json:"exit_code"`
	Note        string   `json:"note"`
}

func readResult(t *testing.T, path string) Result {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("result %s: %v", data, err)
	}
	return r
}

// TestQueueRun: commands that ask before they run.
func TestQueueRun(t *testing.T) {
	InVM(t)
	for _, name := range []string{"make", "ninja"} {
		InstallC(t, "pi", "hog", "run/"+name)
	}
	d := Daemon{}.Start(t)
	s, other := Login(t, "pi"), Login(t, "pi")
	s.Must("cd ~/run")
	other.Must("cd ~/run")
	const file = "/home/pi/run/result.json"
	// ask runs a command through the governor, and returns what it says of it.
	ask := func(t *testing.T, line string, want int) (string, Result) {
		t.Helper()
		d.Use(t)
		s.Use(t)
		out, status := s.Run("headroomd run --result result.json " + line)
		r := readResult(t, file)
		if status != want || r.ExitCode != want {
			t.Errorf("%s ends with %d, told %d; want %d\n%s", line, status, r.ExitCode, want, out)
		}
		return out, r
	}

	t.Run("Ends", func(t *testing.T) {
		_, r := ask(t, "-- ./make 40 after 3 0", 0)
		if !r.Isolated || r.MemoryCapMB <= 0 || r.PeakMB < 30 || r.OOMKilled || r.Note != "" {
			t.Errorf("result %+v", r)
		}
		_, r = ask(t, "-- ./make 8 exit 1", 1)
		if !r.Isolated || r.OOMKilled {
			t.Errorf("result %+v", r)
		}
	})
	t.Run("OverItsCap", func(t *testing.T) {
		out, r := ask(t, "-- ./make 900 exit 0", 137)
		if !r.OOMKilled || !r.Isolated || r.PeakMB < 64 || !strings.Contains(r.Note, "over its cap") || !strings.Contains(out, "headroomd: ") {
			t.Errorf("result %+v, said %q", r, out)
		}
	})
	// What a job starts is that job: it never waits for itself.
	t.Run("Nested", func(t *testing.T) {
		before := len(d.Events())
		out, _ := ask(t, "-c './make 8 after 1 0 && headroomd run -- ./make 8 after 1 0; cat /proc/self/cgroup'", 0)
		if !strings.Contains(out, "/headroom-") {
			t.Errorf("the line ran in %s", out)
		}
		if n := len(Of(d.Events()[before:], "held")); n != 0 {
			t.Errorf("%d commands of one job were held", n)
		}
	})
	t.Run("Refused", func(t *testing.T) {
		other.Use(t)
		before := len(d.Events())
		other.Send("./ninja 8 burn 200 0\n")
		d.Use(t)
		d.AwaitRunning("ninja 8", before)
		out, r := ask(t, "--wait 5s -- ./make 8 exit 0", 75)
		if !strings.Contains(out, "holds the slot") || r.WaitedS < 4 || r.Note == "" {
			t.Errorf("result %+v, said %q", r, out)
		}
		// Given up while it waits.
		s.Send("headroomd run --result result.json -- ./make 8 exit 0\n")
		Eventually(t, patience, func() string {
			if len(d.Status().Queue) != 1 {
				return "it does not wait"
			}
			return ""
		})
		s.Send("\x03")
		if _, status := s.Wait(patience); status != 130 {
			t.Errorf("Ctrl-C while it waits gives %d", status)
		}
		Eventually(t, patience, func() string {
			if len(d.Status().Queue) != 0 {
				return "it still waits"
			}
			return ""
		})
		// The governor is started anew while it waits.
		s.Send("headroomd run --result result.json -- ./make 8 after 1 7\n")
		Eventually(t, patience, func() string {
			if len(d.Status().Queue) != 1 {
				return "it does not wait"
			}
			return ""
		})
		systemctl(t, "restart", unit)
		other.Send("\x03")
		other.Wait(patience)
		if out, status := s.Wait(patience); status != 7 {
			t.Errorf("after a restart it ends with %d\n%s", status, out)
		}
		os.Remove(file)
	})
	// An agent's hook gives the governed command, and the agent runs it.
	t.Run("Hook", func(t *testing.T) {
		d.Use(t)
		s.Use(t)
		Install(t, "pi", "agents")
		input := `{"hook_event_name":"PreToolUse","session_id":"vm","tool_name":"Bash","tool_input":{"command":"./make 900 exit 0"}}`
		s.Must("echo '" + input + "' | headroomd hook --wrap always claude-code >hook.json")
		s.Must(`python3 -c 'import json; print(json.load(open("hook.json"))["hookSpecificOutput"]["updatedInput"]["command"])' >command.sh`)
		out, status := s.Run("bash command.sh")
		if status != 137 || !strings.Contains(out, "over its cap") {
			t.Errorf("status %d\n%s", status, out)
		}
		prompt := `{"hook_event_name":"UserPromptSubmit","session_id":"vm","prompt":"go on"}`
		if out := s.Must("echo '" + prompt + "' | headroomd hook claude-code"); !strings.Contains(out, "went over its memory cap") {
			t.Errorf("the next turn is told %q", out)
		}
	})
	t.Run("WithoutGovernor", func(t *testing.T) {
		systemctl(t, "stop", unit)
		defer systemctl(t, "start", unit)
		_, r := ask(t, "-- ./make 8 after 1 3", 3)
		t.Logf("without a governor: %+v", r)
		if !r.Isolated && r.Note == "" {
			t.Errorf("neither a scope nor a word why: %+v", r)
		}
		other.Use(t)
		other.Send("headroomd run --no-lighten -- ./ninja 8 hold\n")
		var holder int
		Eventually(t, patience, func() string {
			pids := FindProcesses("./ninja 8 hold")
			for _, pid := range pids {
				if argv := Argv(pid); len(argv) > 0 && filepath.Base(argv[0]) == "ninja" {
					holder = pid
					return ""
				}
			}
			return "it does not run yet"
		})
		if out, _ := ask(t, "--wait 4s -- ./make 8 exit 0", 75); !strings.Contains(out, "holds the slot") {
			t.Errorf("said %q", out)
		}
		syscall.Kill(holder, syscall.SIGKILL)
		if _, status := other.Wait(patience); status != 137 {
			t.Errorf("the holder ends with %d", status)
		}
		ask(t, "-- ./make 8 exit 0", 0)
	})
	d.AwaitIdle()
}
