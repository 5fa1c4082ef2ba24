package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// never is a process that must not be touched, and where and how it is.
type never struct {
	name   string
	pid    int
	cgroup Cgroup
	score  int
	start  string // when it began: a pid alone may pass to another
}

// neverOf is a process as it is now.
func neverOf(t *testing.T, name string, pid int) never {
	t.Helper()
	return never{name: name, pid: pid, cgroup: CgroupOf(pid), score: oomScore(t, pid), start: startOf(pid)}
}

// check says what was done to the process.
func (n never) check() (amiss []string) {
	add := func(format string, args ...any) { amiss = append(amiss, fmt.Sprintf(format, args...)) }
	if !Alive(n.pid) || startOf(n.pid) != n.start {
		return []string{"it is gone"}
	}
	if at := CgroupOf(n.pid); at != n.cgroup {
		add("it is in %s, was in %s", at, n.cgroup)
	}
	if state := ProcessState(n.pid); strings.ContainsAny(state, "tT") {
		add("it is stopped (%s)", state)
	}
	if by := Tracer(n.pid); by != 0 {
		add("it is traced by %d", by)
	}
	if text, err := os.ReadFile(n.cgroup.Dir() + "/cgroup.events"); err == nil && !strings.Contains(string(text), "frozen 0") {
		add("its cgroup is frozen")
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", n.pid)); err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(n.score) {
		add("oom_score_adj is %s, was %d", strings.TrimSpace(string(text)), n.score)
	}
	return amiss
}

// TestNever: what must never be touched is not, whatever it calls itself: in
// argv[0], in its comm or by its path.
func TestNever(t *testing.T) {
	InVM(t)
	hog := InstallC(t, "pi", "hog", "never/make")
	InstallC(t, "pi", "hog", "escape/make") // what settled runs
	agents := Install(t, "pi", "agents")
	box := StartBox(t)
	s := Login(t, "pi")
	setuid := copyTo(t, hog, "/home/pi/never/setuid/make", 0o755)
	if err := os.Chmod(setuid, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	dpkg := copyTo(t, "/bin/bash", "/home/pi/never/bin/dpkg", 0o755)
	inNpm := copyTo(t, "/bin/sleep", "/home/pi/never/npm/sleep", 0o755)
	link := "/home/pi/never/link/make"
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Remove(link)
	if err := os.Symlink("/bin/sleep", link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll("/home/pi/never") })

	session := CgroupOf(s.PID)
	table := []never{neverOf(t, "pid 1", 1), neverOf(t, "a kernel thread", 2), neverOf(t, "a login shell", s.PID)}
	for up, name := range map[int]string{parentOf(s.PID): "sshd of the session", parentOf(parentOf(s.PID)): "sshd's monitor"} {
		table = append(table, neverOf(t, name, up))
	}
	for _, pid := range FindProcesses("systemd --user") {
		table = append(table, neverOf(t, "a user's manager", pid))
	}
	d := Daemon{}.Start(t)
	table = append(table, neverOf(t, "the governor", d.PID()))
	d.Use(t)

	// In the session, in the background, as a shell starts commands.
	lines := []struct{ name, line string }{
		{"a shell named make", `(exec -a make bash -c "sleep 1000; :")`},
		{"a login shell named npm", `(exec -a -npm bash -c "sleep 1000; :")`},
		{"sleep named make", `(exec -a make sleep 1000)`},
		{"sleep named npm", `(exec -a npm sleep 1000)`},
		{"sleep by a link named make", link + " 1000"},
		{"sleep in a directory named npm", inNpm + " 1000"},
		{"a comm of npm", `bash -c 'printf npm >/proc/$$/comm; sleep 1000; :'`},
		{"a setuid copy of make", setuid + " 1 hold"},
		{"an agent", "PATH=" + agents + `:$PATH claude 'sleep 1000'`},
		{"a maintainer script's make", dpkg + ` -c "` + hog + ` 1 hold; :"`},
		{"sudo named make", `(exec -a make sudo sleep 1000)`},
	}
	for _, l := range lines {
		pid := background(t, s, l.line)
		table = append(table, never{name: l.name, pid: pid, cgroup: session, score: 0, start: startOf(pid)})
		if l.name == "a maintainer script's make" {
			child := childOf(t, pid)
			table = append(table, never{name: "that make itself", pid: child, cgroup: session, start: startOf(child)})
		}
	}
	s.Must(`(exec -a npm tmux -L never new-session -d 'sleep 1000')`)
	tmux, _ := strconv.Atoi(strings.TrimSpace(s.Must(`tmux -L never display-message -p '#{pid}'`)))
	t.Cleanup(func() { exec.Command("sudo", "-u", "pi", "tmux", "-L", "never", "kill-server").Run() })
	table = append(table, never{name: "tmux named npm", pid: tmux, cgroup: session, start: startOf(tmux)})

	// Services, and what they start.
	for i, v := range []struct {
		name       string
		properties []string
		child      bool
		argv       []string
	}{
		{"a service's main process", nil, false, []string{hog, "1", "hold"}},
		{"sshd named make", nil, false, []string{"bash", "-c", "exec -a /make /usr/sbin/sshd -D -p 2222"}},
		{"ssh named cargo", nil, false, []string{"bash", "-c", "exec -a cargo ssh -N localhost"}},
		{"su named npm", nil, false, []string{"bash", "-c", "exec -a npm su -c 'sleep 1000' pi"}},
		{"a child that reports to systemd", []string{"Type=notify", "NotifyAccess=all"}, true, []string{"bash", "-c", hog + " 1 notify & wait"}},
		{"a child in a service with a limit", []string{"MemoryMax=100M"}, true, []string{"bash", "-c", "env -u NOTIFY_SOCKET " + hog + " 1 hold & wait"}},
		{"a child in a service without a network", []string{"IPAddressDeny=any"}, true, []string{"bash", "-c", "env -u NOTIFY_SOCKET " + hog + " 1 hold & wait"}},
	} {
		unit := fmt.Sprintf("never%d", i)
		pid := StartService(t, unit, v.properties, v.argv...)
		if v.child {
			pid = childOf(t, pid)
		}
		n := never{name: v.name, pid: pid, cgroup: Cgroup("/system.slice/" + unit + ".service"), start: startOf(pid)}
		switch v.name {
		case "sshd named make": // it protects itself
			Eventually(t, patience, func() string {
				if n.score = oomScore(t, pid); n.score != -1000 {
					return "sshd has not protected itself"
				}
				return ""
			})
		case "su named npm": // PAM opens a session for it
			Eventually(t, patience, func() string {
				if n.cgroup = CgroupOf(pid); !strings.HasPrefix(n.cgroup.Unit(), "session-") {
					return fmt.Sprintf("su is in %s", n.cgroup)
				}
				return ""
			})
		}
		table = append(table, n)
	}
	boxed := box.Start(hog + " 1 hold")
	table = append(table, never{name: "a container's make", pid: boxed, cgroup: box.Cgroup, start: startOf(boxed)})

	verdict := func(when string) {
		t.Helper()
		settled(t, d, s)
		for _, n := range table {
			if n.name == "the governor" && when != "seen" {
				continue // another by then
			}
			for _, amiss := range n.check() {
				t.Errorf("%s: %s (%d %q): %s", when, n.name, n.pid, Argv(n.pid), amiss)
			}
		}
		left := map[int]bool{}
		for _, e := range d.Events() {
			for _, n := range table {
				// What its unit says is asked after it was caught: until then it is told
				// of as any other.
				if e.PID == n.pid && !slices.Contains([]string{"left", "captured", "held", "admitted"}, e.Event) {
					t.Errorf("%s: %s: %s: %s", when, n.name, e.Event, e.Reason)
				}
				left[e.PID] = left[e.PID] || e.Event == "left"
			}
		}
		for _, n := range table { // the table is of what the governor saw
			if must := n.name == "a setuid copy of make" || n.name == "a container's make" || n.name == "a service's main process" || n.name == "that make itself"; must && !left[n.pid] {
				t.Errorf("%s: %s is not told of", when, n.name)
			}
		}
	}
	verdict("seen")
	// The next governor looks through what began of late.
	was := d.PID()
	systemctl(t, "restart", unit)
	d.AwaitRestart(was)
	verdict("found by a scan")
	for _, n := range table {
		if n.cgroup == session && n.pid != s.PID && !strings.HasPrefix(n.name, "sshd") {
			syscall.Kill(n.pid, syscall.SIGKILL)
		}
	}
	t.Logf("%d processes: none touched", len(table))
}

var backgroundPID = regexp.MustCompile(`pid=(\d+)`)

// background starts a line in the background of a session's shell.
func background(t *testing.T, s *Session, line string) int {
	t.Helper()
	out := s.Must(line + " >/dev/null 2>&1 </dev/null & echo pid=$!")
	m := backgroundPID.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("%s: %s", line, out)
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

func parentOf(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	up, _ := strconv.Atoi(fields[1])
	return up
}

// childOf waits for the first child of a process that runs make.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	child := 0
	Eventually(t, patience, func() string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for word := range strings.FieldsSeq(string(text)) {
			child, _ = strconv.Atoi(word)
			if argv := Argv(child); len(argv) > 0 && filepath.Base(argv[0]) == "make" {
				return ""
			}
		}
		return fmt.Sprintf("%d has no child that is make", pid)
	})
	return child
}

func copyTo(t *testing.T, from, to string, mode os.FileMode) string {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}
