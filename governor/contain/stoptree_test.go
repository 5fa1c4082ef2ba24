//go:build linux

package contain

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// grow starts a shell as a child of the test, and reads the pids that it tells,
// a line of them, after its own.
func grow(t *testing.T, script string, more int) (cmd *exec.Cmd, ids []proc.ID) {
	t.Helper()
	cmd = exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{cmd.Process.Pid}
	lines := bufio.NewScanner(out)
	for range more {
		if !lines.Scan() {
			t.Fatal("the shell tells nothing")
		}
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		st, err := (proc.FS{}).Stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, st.ID)
	}
	t.Cleanup(func() {
		for _, id := range ids {
			if h, err := proc.Open(proc.FS{}, id); err == nil {
				h.Signal(unix.SIGKILL)
				h.Close()
			}
		}
		cmd.Wait()
	})
	return cmd, ids
}

// endedBy reports whether a shell was ended by a signal. One that is asked to end
// after its children were may have seen those end, and is over by itself.
func endedBy(ws syscall.WaitStatus, want syscall.Signal) bool {
	return ws.Signal() == want || want == syscall.SIGTERM && ws.Exited()
}

func lives(id proc.ID) bool {
	st, err := (proc.FS{}).Stat(id.PID)
	return err == nil && st.ID == id && st.State != 'Z' && st.State != 'X'
}

func TestStopTree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		more   int
		grace  time.Duration
		want   syscall.Signal
	}{
		{"asked", "sleep 600 & echo $!; sleep 600 & echo $!; wait", 2, time.Minute, syscall.SIGTERM},
		{"at once", "sleep 600 & echo $!; wait", 1, 0, syscall.SIGKILL},
		{"deaf", "trap '' TERM; sh -c 'echo $$; while :; do sleep 0.05; done' & wait", 1, 200 * time.Millisecond, syscall.SIGKILL},
		{"stopped", "sleep 600 & echo $!; kill -STOP $$; wait", 1, time.Minute, syscall.SIGTERM},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd, ids := grow(t, tt.script, tt.more)
			told, err := Tree{FS: proc.FS{}, Root: ids[0]}.Stop(t.Context(), tt.grace)
			if err != nil || told < len(ids) {
				t.Errorf("told %d, %v", told, err)
			}
			cmd.Wait()
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !endedBy(ws, tt.want) {
				t.Errorf("it ended with %v, want %v", ws.Signal(), tt.want)
			}
			for _, id := range ids {
				if lives(id) {
					t.Errorf("%v lives", id)
				}
			}
		})
	}
}

// What a member forks as its last act is pid 1's child, and still in the group.
func TestStopTreeThatForksAtItsEnd(t *testing.T) {
	cmd, ids := grow(t, "trap 'sleep 600 & exit 3' TERM; sleep 600 & echo $!; wait", 1)
	if _, err := (Tree{FS: proc.FS{}, Root: ids[0]}).Stop(t.Context(), 10*time.Second); err != nil {
		t.Error(err)
	}
	cmd.Wait()
	pids, err := (proc.FS{}).List()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if st, err := (proc.FS{}).Stat(pid); err == nil && st.PGID == ids[0].PID && st.State != 'Z' {
			t.Errorf("%d (%s) of its group lives", pid, st.Comm)
			unix.Kill(pid, unix.SIGKILL) // of the test's own group
		}
	}
}

func TestStopTreeSpares(t *testing.T) {
	_, ids := grow(t, "sh -c 'echo $$; sleep 600 & echo $!; wait' & sleep 600 & echo $!; wait", 3)
	// A child has its parent's name until it executes sleep.
	spared := 0
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		shells := 0
		for _, id := range ids[1:] {
			if st, err := (proc.FS{}).Stat(id.PID); err == nil && st.Comm != "sleep" {
				shells, spared = shells+1, id.PID
			}
		}
		if shells == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %v do not sleep, want one", shells, ids[1:])
		}
	}
	tree := Tree{FS: proc.FS{}, Root: ids[0], Spare: func(pid int) bool { return pid == spared }}
	if told, err := tree.Stop(t.Context(), time.Minute); err != nil || told != 2 {
		t.Errorf("told %d, %v", told, err)
	}
	for _, id := range ids {
		st, err := (proc.FS{}).Stat(id.PID)
		below := err == nil && st.PPID == spared
		if want := id.PID == spared || below; lives(id) != want {
			t.Errorf("%v lives: %v", id, !want)
		}
	}
}

func TestStopTreeCutShort(t *testing.T) {
	_, ids := grow(t, "trap '' TERM; sh -c 'echo $$; while :; do sleep 0.05; done' & wait", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := (Tree{FS: proc.FS{}, Root: ids[0]}).Stop(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if !lives(ids[0]) {
		t.Error("it was killed")
	}
}

func TestStopTreeThatIsGone(t *testing.T) {
	_, ids := grow(t, "sleep 600 & echo $!; wait", 1)
	other := proc.ID{PID: ids[0].PID, Start: ids[0].Start + 1}
	if told, err := (Tree{FS: proc.FS{}, Root: other}).Stop(t.Context(), 0); told != 0 || err != nil {
		t.Errorf("told %d, %v", told, err)
	}
	if !lives(ids[0]) || !lives(ids[1]) {
		t.Error("one that has the pid now was ended")
	}
}
