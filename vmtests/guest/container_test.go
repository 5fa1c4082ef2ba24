package guest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestContainer: a heavy command in a container stays there, and where that is
// wanted its container has less while it runs.
func TestContainer(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "box/make")
	box := StartBox(t)
	t.Run("Observe", func(t *testing.T) {
		box.t = t
		d := Daemon{}.Start(t)
		pid := box.Start(hog + " 4 hold")
		left := d.Await("it is told", 0, func(e Event) bool { return e.PID == pid })
		if left.Event != "left" || left.Container != boxName || left.Origin != string(box.Cgroup) {
			t.Errorf("told %+v", left)
		}
		box.stays("observed", "max", 2*time.Second)
		untouched(t, pid, box.Cgroup, 0)
		syscall.Kill(pid, syscall.SIGKILL)
		machineIsOne(t, d, hog)
	})
	// A small grant has the hog killed after seconds and not minutes.
	WriteConfig(t, "contain_containers = \"cap\"\njob_memory_max_mb = 64\nswap_mb = 16\n")
	d := Daemon{}.Start(t)
	t.Run("Cap", func(t *testing.T) { capsBox(t, d, box, hog) })
	t.Run("LowerLimit", func(t *testing.T) {
		box.t = t
		d.Use(t)
		setMax(t, box, "50331648")
		before := len(d.Events())
		pid := box.Start(hog + " 4 hold")
		d.Await("it is told", before, func(e Event) bool { return e.Event == "placed" && e.PID == pid })
		box.stays("a lower limit", "50331648", 2*time.Second)
		syscall.Kill(pid, syscall.SIGKILL)
		awaitEnd(d, before)
		box.stays("the job has ended", "50331648", time.Second)
		setMax(t, box, "max")
	})
	t.Run("DaemonDies", func(t *testing.T) {
		box.t = t
		d.Use(t)
		pid := box.Start(hog + " 4 hold")
		placed := d.Await("it is capped", 0, func(e Event) bool { return e.Event == "placed" && e.PID == pid })
		was := d.PID()
		syscall.Kill(was, syscall.SIGKILL)
		d.AwaitRestart(was)
		// The next governor may have found the job, which is young, and capped its
		// container again: by what it takes for the limit of before.
		syscall.Kill(pid, syscall.SIGKILL)
		box.wantMax(fmt.Sprintf("the governor died, it had set %d MB", placed.MemoryCapMB), "max")
	})
	t.Run("DaemonStops", func(t *testing.T) {
		box.t = t
		d.Use(t)
		before := len(d.Events())
		pid := box.Start(hog + " 4 hold")
		d.Await("it is capped", before, func(e Event) bool { return e.Event == "placed" && e.PID == pid })
		systemctl(t, "stop", unit)
		box.wantMax("the governor has stopped", "max")
		untouched(t, pid, box.Cgroup, 900)
		syscall.Kill(pid, syscall.SIGKILL)
	})
}

func capsBox(t *testing.T, d *Daemon, box *Box, hog string) {
	box.t = t
	d.Use(t)
	before := len(d.Events())
	bystander := box.Start("sleep 1000")
	pid := box.Start(hog + " 4 hold")
	placed := d.Await("it is capped", before, func(e Event) bool { return e.Event == "placed" && e.PID == pid })
	if placed.Container != boxName || placed.Origin != string(box.Cgroup) || placed.Isolated == nil || *placed.Isolated {
		t.Errorf("placed %+v", placed)
	}
	limit := box.Cgroup.Value(t, "memory.max")
	if limit < 64<<20 || limit>>20 != placed.MemoryCapMB {
		t.Fatalf("memory.max is %d, told %d MB", limit, placed.MemoryCapMB)
	}
	untouched(t, pid, box.Cgroup, 900)
	untouched(t, bystander, box.Cgroup, 0)
	if j, ok := d.Status().Find(placed.Job); !ok || j.Container != boxName || j.State != "running" {
		t.Errorf("status %+v", j)
	}

	systemctl(t, "daemon-reload")
	text, _ := os.ReadFile(box.Cgroup.Dir() + "/memory.max")
	t.Logf("right after a reload memory.max is %s", strings.TrimSpace(string(text)))
	// What a reload does, if it did not.
	setMax(t, box, "max")
	changed := d.Await("it is told", before, func(e Event) bool { return e.Event == "changed" && e.Job == placed.Job })
	// No limit is written that is not 64 MB above what is charged.
	if again := box.Cgroup.Value(t, "memory.max"); again < 0 || again > limit+32<<20 {
		t.Errorf("after a reload memory.max is %d, was %d: %s", again, limit, changed.Reason)
	}

	big := box.Start(hog + " 600 hold")
	killed := d.Await("the kernel kills in the container", before, func(e Event) bool { return e.Event == "oom-kill" })
	if killed.Container != boxName || killed.Job != placed.Job {
		t.Errorf("killed: %+v", killed)
	}
	Eventually(t, patience, func() string {
		if Alive(big) {
			return "the hog lives on"
		}
		return ""
	})
	for what, p := range map[string]int{"shell": box.PID, "bystander": bystander} {
		if !Alive(p) {
			t.Errorf("the container's %s is gone", what)
		}
	}
	t.Logf("cap %d MB, the hog of 600 MB was killed; %d kills", limit>>20, killed.OOMKills)
	syscall.Kill(pid, syscall.SIGKILL)
	awaitEnd(d, before)
	box.wantMax("the job has ended", "max")
	if swap := box.Cgroup.Value(t, "memory.swap.max"); swap != -1 {
		t.Errorf("memory.swap.max is %d", swap)
	}
	syscall.Kill(bystander, syscall.SIGKILL)
}

func awaitEnd(d *Daemon, before int) {
	d.t.Helper()
	d.Await("the job has ended", before, func(e Event) bool { return e.Event == "ended" && e.Container == boxName })
}

func setMax(t *testing.T, box *Box, text string) {
	t.Helper()
	if err := os.WriteFile(box.Cgroup.Dir()+"/memory.max", []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// untouched checks that a process runs where it was, with the oom_score_adj
// that is wanted.
func untouched(t *testing.T, pid int, where Cgroup, score int) {
	t.Helper()
	if at := CgroupOf(pid); at != where {
		t.Errorf("%d is in %q, want %q", pid, at, where)
	}
	if state := ProcessState(pid); state != "S" && state != "R" {
		t.Errorf("%d is in state %q", pid, state)
	}
	if n := where.Field(t, "cgroup.events", "frozen"); n != 0 {
		t.Errorf("%q is frozen", where)
	}
	if got := oomScore(t, pid); got != score {
		t.Errorf("oom_score_adj of %d is %d, want %d", pid, got, score)
	}
}

func oomScore(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil {
		t.Error(err)
		return -2000
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Error(err)
	}
	return n
}

// machineIsOne: a machine that systemd-nspawn started is a container.
func machineIsOne(t *testing.T, d *Daemon, hog string) {
	before := len(d.Events())
	cmd := exec.Command("systemd-nspawn", "--quiet", "--directory=/", "--volatile=yes", "--machine=tiny", "--register=no", "--oom-score-adjust=0",
		"--private-network", "--bind-ro="+hog+":/opt/make", "--console=pipe", "/opt/make", "4", "hold")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside := 0
	t.Cleanup(func() {
		// The first process of a machine hears no other signal.
		if inside > 1 {
			syscall.Kill(inside, syscall.SIGKILL)
		}
		syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
		cmd.Wait()
	})
	left := d.Await("it is told", before, func(e Event) bool { return e.Event == "left" && e.Container == "nspawn tiny" })
	inside = left.PID
	t.Logf("told as %q in %q", left.Container, left.Origin)
	untouched(t, left.PID, Cgroup(left.Origin), 0)
	if placed := Of(d.Events(), "placed"); len(placed) != 0 {
		t.Errorf("placed %+v", placed)
	}
}

// TestScore: the kernel takes a job first, also one that inherits a protection.
func TestScore(t *testing.T) {
	InVM(t)
	dir := CProject(t, "pi", 1)
	if err := os.WriteFile(dir+"/Makefile", []byte("all:\n\tsh -c 'sleep 1000; :'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := Daemon{}.Start(t)
	StartService(t, "protected", []string{"OOMScoreAdjust=-900", "User=pi", "WorkingDirectory=" + dir}, "sh", "-c",
		"env -u NOTIFY_SOCKET make & wait")
	placed := d.Await("it was placed", 0, func(e Event) bool { return e.Event == "placed" })
	scope := CgroupOf(placed.PID)
	Eventually(t, patience, func() string {
		if n := len(scope.Processes()); n < 4 { // make, sh, sleep and the placeholder
			return fmt.Sprintf("%d processes in %s", n, scope)
		}
		return ""
	})
	for _, pid := range scope.Processes() {
		argv := strings.Join(Argv(pid), " ")
		if !strings.Contains(argv, "make") && !strings.Contains(argv, "sleep 1000") {
			continue // the placeholder
		}
		if got := oomScore(t, pid); got != 900 {
			t.Errorf("%q has oom_score_adj %d, want 900", argv, got)
		}
	}
	if main := UnitProperty(t, "protected.service", "MainPID"); main != "" {
		if pid, _ := strconv.Atoi(main); oomScore(t, pid) != -900 {
			t.Errorf("the service's own process has %d", oomScore(t, pid))
		}
	}
}
