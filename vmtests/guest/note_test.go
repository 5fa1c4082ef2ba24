package guest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/loader/proc"
)

// TestNote: what a note may meet that only a machine of its own has.
func TestNote(t *testing.T) {
	InVM(t)
	t.Run("AFileWhoseServerStandsStill", noteToStuckFile)
	t.Run("ASerialLine", noteToSerialLine)
	t.Run("OverTheCap", noteOverTheCap)
}

// sleeper is a process with that stderr.
func sleeper(t *testing.T, stderr *os.File) proc.ID {
	t.Helper()
	c := exec.Command("sleep", "600")
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	st, err := proc.FS{}.Stat(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.ID
}

// noteToStuckFile: each request to a file system in user space is answered by
// its server, or never.
func noteToStuckFile(t *testing.T) {
	const at = "/mnt/far"
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sshfs", "pi@localhost:/home/pi", at).CombinedOutput(); err != nil {
		t.Fatalf("sshfs: %v: %s", err, out)
	}
	defer os.Remove("/home/pi/log")
	defer exec.Command("umount", "--lazy", at).Run()
	f, err := os.Create(at + "/log")
	if err != nil {
		t.Fatal(err)
	}
	to := sleeper(t, f)
	f.Close()
	servers := FindProcesses("sshfs pi@localhost")
	if len(servers) != 1 {
		t.Fatalf("servers %v", servers)
	}
	if err := syscall.Kill(servers[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() { syscall.Kill(servers[0], syscall.SIGCONT) }
	defer goOn()
	Eventually(t, patience, func() string {
		if state := ProcessState(servers[0]); state != "T" {
			return "the server is " + state
		}
		return ""
	})
	w := note.New(proc.FS{}, note.On)
	const many = 8
	for range many {
		w.Tell(note.Note{To: to, Text: "x"})
	}
	select {
	case <-w.Idle():
	case <-time.After(patience):
		t.Errorf("the notes hang: %v", w.Counts())
	}
	if got := w.Counts(); got[note.NoTarget] != many {
		t.Errorf("of %d notes became %v", many, got)
	}
	goOn()
	if text, err := os.ReadFile(at + "/log"); err != nil || len(text) > 0 {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// noteToSerialLine: a board's console is a terminal, too.
func noteToSerialLine(t *testing.T) {
	fd, err := unix.Open("/dev/ttyS0", unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "ttyS0")
	defer f.Close()
	w := note.New(proc.FS{}, note.On)
	w.Tell(note.Note{To: sleeper(t, f), Text: "npm starts"})
	select {
	case <-w.Idle():
	case <-time.After(patience):
	}
	if got := w.Counts(); got[note.Written] != 1 {
		t.Errorf("became %v", got)
	}
}

// noteOverTheCap: the command itself is what the kernel kills, and its terminal
// is told why; a script that reads its output is not.
func noteOverTheCap(t *testing.T) {
	program := InstallC(t, "pi", "hog", "over/make")
	WriteConfig(t, "job_memory_max_mb = 64\nswap_mb = 16\n")
	d := Daemon{}.Start(t)
	s := Login(t, "pi")
	const told = "headroomd: make went over its memory cap of "
	s.Send(fmt.Sprintf("%s 900 exit 0; sleep 600\n", program))
	Eventually(t, patience, func() string {
		if shown := s.Shown(); !strings.Contains(shown, told) {
			return fmt.Sprintf("the terminal shows %q", shown)
		}
		return ""
	})
	s.Send("\x03")
	s.Wait(patience)
	if kills := Of(d.Events(), "oom-kill"); len(kills) == 0 {
		t.Error("no kill is recorded")
	}
	out, _ := s.Run(fmt.Sprintf("x=$(%s 900 exit 0 2>&1); echo \"<$x>\"; sleep 3", program))
	if !strings.Contains(out, "<>") {
		t.Errorf("the script got something: %q", out)
	}
}
