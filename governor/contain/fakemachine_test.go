package contain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeMachine is a /proc and a cgroup tree in a directory, with managers that
// move processes between the two as systemd does.
type fakeMachine struct {
	t      testing.TB
	proc   string
	cgroup string
	mu     sync.Mutex
	buses  map[string]*fakeBus
	holder *fakeHolder
}

func newFakeMachine(t testing.TB) *fakeMachine {
	f := &fakeMachine{t: t, proc: t.TempDir(), cgroup: t.TempDir(), buses: make(map[string]*fakeBus)}
	f.holder = &fakeHolder{f: f, next: 9000, alive: make(map[int]bool)}
	f.write(filepath.Join(f.cgroup, "cgroup.controllers"), "cpu memory pids\n")
	f.bus(SystemManager, "")
	f.process(os.Getpid(), 1, "/system.slice/headroomd.service")
	return f
}

func (f *fakeMachine) write(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// file writes a file of a cgroup.
func (f *fakeMachine) file(cgroup, name, text string) {
	f.write(filepath.Join(f.cgroup, cgroup, name), text)
}

// mkcgroup makes a cgroup with the files that a kernel with the memory
// controller gives it.
func (f *fakeMachine) mkcgroup(cgroup string) {
	if _, err := os.Stat(filepath.Join(f.cgroup, cgroup, "cgroup.procs")); err == nil {
		return
	}
	for name, text := range map[string]string{
		"cgroup.procs": "", "cgroup.freeze": "0\n", "cgroup.events": "populated 1\nfrozen 0\n", "cpu.stat": "usage_usec 1500\nuser_usec 1000\n",
		"memory.max": "max\n", "memory.swap.max": "max\n", "memory.current": "8192\n", "memory.swap.current": "0\n", "memory.peak": "16384\n",
		"memory.stat": "anon 4096\nfile 100\nkernel 512\nshmem 1024\n", "memory.events": "low 0\noom 1\noom_kill 2\n",
	} {
		f.file(cgroup, name, text)
	}
}

// process makes a process; its start time is 100 + its pid.
func (f *fakeMachine) process(pid, ppid int, cgroup string) proc.Exec {
	dir := filepath.Join(f.proc, strconv.Itoa(pid))
	f.write(dir+"/stat", fmt.Sprintf("%d (x) S %d 5 5 0 -1 0 1 2 3 4 70 80 5 6 20 0 1 0 %d 1000000 250 18446744073709551615 1 1 0 0\n", pid, ppid, 100+pid))
	f.write(dir+"/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t1\t1\t1\t1\n")
	f.write(dir+"/cmdline", "x\x00")
	f.write(dir+"/environ", "HOME=/\x00")
	f.place(pid, cgroup)
	id := proc.ID{PID: pid, Start: uint64(100 + pid)}
	return proc.Exec{ID: id, UID: 1000, Cgroup: cgroup}
}

// place says in both trees where a process sits.
func (f *fakeMachine) place(pid int, cgroup string) {
	f.mkcgroup(cgroup)
	old, _ := f.fs().Cgroup(pid)
	f.list(old, func(l []string) []string {
		return slices.DeleteFunc(l, func(s string) bool { return s == strconv.Itoa(pid) })
	})
	f.write(filepath.Join(f.proc, strconv.Itoa(pid), "cgroup"), "0::"+cgroup+"\n")
	f.list(cgroup, func(l []string) []string { return append(l, strconv.Itoa(pid)) })
}

func (f *fakeMachine) list(cgroup string, edit func([]string) []string) {
	name := filepath.Join(f.cgroup, cgroup, "cgroup.procs")
	b, err := os.ReadFile(name)
	if err != nil || cgroup == "" {
		return
	}
	f.write(name, strings.Join(edit(strings.Fields(string(b))), "\n")+"\n")
}

// kill ends a process.
func (f *fakeMachine) kill(pid int) {
	at, _ := f.fs().Cgroup(pid)
	f.list(at, func(l []string) []string {
		return slices.DeleteFunc(l, func(s string) bool { return s == strconv.Itoa(pid) })
	})
	os.RemoveAll(filepath.Join(f.proc, strconv.Itoa(pid)))
}

func (f *fakeMachine) fs() proc.FS { return proc.NewFS(f.proc) }

// bus is the fake manager of a name; root is the cgroup that it manages.
func (f *fakeMachine) bus(name, root string) *fakeBus {
	b := &fakeBus{f: f, root: root, props: make(map[string]map[string]any), result: "done"}
	b.props["/Manager"] = map[string]any{"Version": "257.13-1~deb13u1", "DefaultTasksMax": uint64(1131), "SystemState": "running"}
	f.buses[name] = b
	return b
}

// unit gives a fake manager a unit of a running service or scope.
func (b *fakeBus) unit(name string, props map[string]any) {
	iface := map[string]any{"KillMode": "control-group", "TasksMax": uint64(1131), "MemoryMax": Infinity, "MainPID": uint32(10), "ControlPID": uint32(0)}
	for k, v := range props {
		iface[k] = v
	}
	kind := "Scope"
	if strings.HasSuffix(name, ".service") {
		kind = "Service"
	}
	b.props[name+"/"+kind] = iface
	b.props[name+"/Unit"] = map[string]any{"ActiveState": "active", "SubState": "running"}
}

func (f *fakeMachine) systemd(t testing.TB) *Systemd {
	t.Helper()
	s, err := newSystemd(context.Background(), SystemdOptions{FS: f.fs(), CgroupRoot: f.cgroup, Dial: f.dial}, f.holder)
	if err != nil {
		t.Fatal(err)
	}
	s.adjust = func(pid int) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.holder.adjusted = append(f.holder.adjusted, pid)
		return nil
	}
	s.move = func(cgroup string, pid int) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, err := f.fs().Stat(pid); err != nil {
			return unix.ESRCH
		}
		f.place(pid, cgroup)
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (f *fakeMachine) dial(_ context.Context, name string) (Bus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.buses[name]
	if b == nil {
		return nil, fmt.Errorf("no manager %q", name)
	}
	b.dials++
	return b, nil
}

// fakeBus is one manager.
type fakeBus struct {
	f     *fakeMachine
	root  string // the cgroup path of "-.slice"
	props map[string]map[string]any
	queue []Job

	result  string              // of a start job
	refuse  func(p props) error // before anything is moved
	after   error               // after all was moved: the word is lost
	onStart func()
	onMoved func() // before the manager's word
	put     string // where processes really go; "" = where they should
	broken  int    // so many calls find the connection broken

	mu          sync.Mutex // Look asks several questions at once
	dials, gets int
	started     []props
	set         []props
	closed      bool
}

// props are the properties of one order by name, with "unit" and "mode".
type props map[string]any

func asProps(unit, mode string, list []sd.Property) props {
	p := props{"unit": unit, "mode": mode}
	for _, x := range list {
		p[x.Name] = x.Value.Value()
	}
	return p
}

func (b *fakeBus) breaks() error {
	if b.broken > 0 {
		b.broken--
		return fmt.Errorf("%w: EOF", errBusGone)
	}
	return nil
}

func (b *fakeBus) Start(ctx context.Context, unit, mode string, list []sd.Property, queued func()) (string, error) {
	if queued != nil {
		queued()
	}
	p := asProps(unit, mode, list)
	b.started = append(b.started, p)
	if b.onStart != nil {
		b.onStart()
	}
	if err := b.breaks(); err != nil {
		return "", err
	}
	if b.refuse != nil {
		if err := b.refuse(p); err != nil {
			return "", err
		}
	}
	if b.result != "done" {
		return b.result, nil
	}
	at := b.put
	if at == "" {
		slice := p["Slice"].(string)
		at = path.Join("/", b.root, b.sliceDir(slice), unit)
	}
	b.f.mkcgroup(at)
	for _, pid := range p["PIDs"].([]uint32) {
		if _, err := b.f.fs().Stat(int(pid)); err == nil {
			b.f.place(int(pid), at)
		}
	}
	b.limits(at, p)
	if b.onMoved != nil {
		b.onMoved()
	}
	return b.result, b.after
}

// sliceDir is "user.slice/user-1000.slice" for "user-1000.slice".
func (b *fakeBus) sliceDir(slice string) string {
	if slice == "-.slice" {
		return ""
	}
	name, dir := strings.TrimSuffix(slice, ".slice"), ""
	for i, r := range name + "-" {
		if r == '-' {
			dir = path.Join(dir, name[:i]+".slice")
		}
	}
	return dir
}

func (b *fakeBus) limits(at string, p props) {
	for prop, file := range map[string]string{"MemoryMax": "memory.max", "MemorySwapMax": "memory.swap.max"} {
		if v, ok := p[prop].(uint64); ok {
			if _, err := os.Stat(filepath.Join(b.f.cgroup, at, file)); err == nil {
				b.f.file(at, file, fmt.Sprintln(v/4096*4096))
			}
		}
	}
}

func (b *fakeBus) Set(_ context.Context, unit string, list []sd.Property) error {
	if err := b.breaks(); err != nil {
		return err
	}
	p := asProps(unit, "", list)
	b.set = append(b.set, p)
	paths, _ := cgroups{b.f.cgroup}.scopes()
	for _, at := range paths {
		if path.Base(at) == unit {
			b.limits(at, p)
		}
	}
	return nil
}

func (b *fakeBus) Get(_ context.Context, unit, iface string, names ...string) (map[string]any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gets++
	if err := b.breaks(); err != nil {
		return nil, err
	}
	all, ok := b.props[unit+"/"+iface]
	if !ok {
		return nil, dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", []any{unit})
	}
	out := make(map[string]any)
	for k, v := range all {
		if len(names) == 0 || slices.Contains(names, k) {
			out[k] = v
		}
	}
	return out, nil
}

func (b *fakeBus) Jobs(context.Context) ([]Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue, b.breaks()
}
func (b *fakeBus) Close() error { b.closed = true; return nil }

// fakeHolder starts placeholders that are lines in a fake /proc.
type fakeHolder struct {
	f        *fakeMachine
	mu       sync.Mutex
	next     int
	alive    map[int]bool
	refuse   error
	adjusted []int
}

func (h *fakeHolder) start(uid uint32, cgroup *os.File) (proc.ID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		return proc.ID{}, h.refuse
	}
	h.next++
	at := "/system.slice/headroomd.service"
	if cgroup != nil {
		at = strings.TrimPrefix(cgroup.Name(), h.f.cgroup)
	}
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	x := h.f.process(h.next, os.Getpid(), at)
	h.f.write(filepath.Join(h.f.proc, strconv.Itoa(h.next), "cmdline"), placeholderName+"\x00604800\x00")
	h.alive[h.next] = true
	return x.ID, nil
}

func (h *fakeHolder) stop(id proc.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive[id.PID] {
		delete(h.alive, id.PID)
		h.f.kill(id.PID)
	}
}

func (h *fakeHolder) reap() {}

func (h *fakeHolder) close() {
	h.mu.Lock()
	all := h.alive
	h.alive = make(map[int]bool)
	h.mu.Unlock()
	for pid := range all {
		h.f.kill(pid)
	}
}

func (h *fakeHolder) left() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.alive)
}

const (
	inSession = "/user.slice/user-1000.slice/session-2.scope"
	inService = "/system.slice/ci.service"
	inUser    = "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope"
)

// inhabited is a machine with a session, a service and a user's manager, each with
// a process: 500, 600 and 700.
func inhabited(t testing.TB) (f *fakeMachine, session, service, user proc.Exec) {
	f = newFakeMachine(t)
	sys := f.buses[SystemManager]
	sys.unit("session-2.scope", map[string]any{"TasksMax": Infinity})
	sys.unit("ci.service", nil)
	sys.unit("user@1000.service", map[string]any{"Delegate": true})
	usr := f.bus("user-1000", "/user.slice/user-1000.slice/user@1000.service")
	usr.unit("vte-spawn-1.scope", nil)
	return f, f.process(500, 1, inSession), f.process(600, 1, inService), f.process(700, 1, inUser)
}

// errRefused is what a manager answers when a start would cancel a job.
var errRefused error = dbus.NewError("org.freedesktop.systemd1.TransactionIsDestructive", nil)

var errLost = fmt.Errorf("%w: EOF", errBusGone)

var errSome = errors.New("something else")
