package contain

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

const (
	// placeholderName is the argv[0] by which ps shows a placeholder.
	placeholderName = "headroom-placeholder"

	// placeholderSeconds bounds a placeholder's life, should all else fail: 7
	// days, longer than jobs last.
	placeholderSeconds = 7 * 24 * 3600

	// nogroup is a placeholder's only group: it opens nothing.
	nogroup = 65534
)

var errClosing = errors.New("no placeholder: the governor is going down")

// keeper starts placeholders: processes that only sleep, so that a scope, and
// with it its counters, outlives the job (without one the counters of a
// finished job were gone in 7 of 12 reads, with one 8 of 8 were read).
//
// A placeholder must not outlive the governor. Pdeathsig sees to that, and as
// the kernel sends it when the *thread* that forked ends, all are forked on
// one locked thread that lives until close.
type keeper struct {
	sleep string   // resolved path
	argv  []string // argv[0] and the seconds
	fs    proc.FS

	mu     sync.Mutex
	orders chan func() // unbuffered; nil until the first start
	quit   chan struct{}
	closed bool
	alive  map[int]bool // started and not yet reaped
}

// newKeeper finds the sleep program. It starts nothing.
func newKeeper(fs proc.FS) (*keeper, error) {
	path, err := exec.LookPath("sleep")
	if err != nil {
		return nil, fmt.Errorf("find a program for placeholders: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	k := &keeper{sleep: path, fs: fs, quit: make(chan struct{}), alive: make(map[int]bool)}
	name := placeholderName
	if filepath.Base(path) != "sleep" {
		name = "sleep" // busybox and the like choose the applet by argv[0]
	}
	k.argv = []string{name, strconv.Itoa(placeholderSeconds)}
	return k, nil
}

// start forks a placeholder that runs as uid. cgroup, where not nil, is an
// open directory of the cgroup to be born in (Linux ≥ 5.7). It must be one
// that only root can freeze: the fork waits until the child has exec'd, and a
// frozen child never does.
func (k *keeper) start(uid uint32, cgroup *os.File) (proc.ID, error) {
	type result struct {
		pid int
		err error
	}
	done := make(chan result, 1)
	if err := k.order(func() {
		pid, err := k.fork(uid, cgroup)
		done <- result{pid, err}
	}); err != nil {
		return proc.ID{}, err
	}
	r := <-done
	if r.err != nil {
		return proc.ID{}, fmt.Errorf("start a placeholder: %w", r.err)
	}
	// The governor's own negative value is inherited; a sleeping process that
	// the kernel may not kill would only make it take a larger one instead.
	// A user's value is his manager's, 100 or 200, and he may not lower it.
	err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", r.pid), []byte("0"), 0)
	if err != nil && os.Geteuid() == 0 {
		k.stop(proc.ID{PID: r.pid})
		return proc.ID{}, fmt.Errorf("set the oom_score_adj of a placeholder: %w", err)
	}
	id := proc.ID{PID: r.pid}
	if st, err := k.fs.Stat(r.pid); err == nil {
		id = st.ID
	}
	return id, nil
}

// order hands f to the forking thread, which it starts when there is none.
func (k *keeper) order(f func()) error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return errClosing
	}
	if k.orders == nil {
		k.orders = make(chan func())
		go func(orders chan func()) {
			// Never unlocked: the thread ends with the goroutine.
			runtime.LockOSThread()
			keepDescriptors()
			for {
				select {
				case f := <-orders:
					f()
				case <-k.quit:
					return
				}
			}
		}(k.orders)
	}
	orders := k.orders
	k.mu.Unlock()
	select {
	case orders <- f:
		return nil
	case <-k.quit:
		return errClosing
	}
}

// keepDescriptors has no child inherit what the governor itself was started
// with, from a shell or a service manager. All that Go opens is closed on exec
// already.
func keepDescriptors() {
	if unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	// Before Linux 5.11.
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, fd := range fds {
		if n, err := strconv.Atoi(fd.Name()); err == nil && n > 2 {
			unix.CloseOnExec(n)
		}
	}
}

func (k *keeper) fork(uid uint32, cgroup *os.File) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	fd := null.Fd()
	attr := &syscall.ProcAttr{
		Dir: "/",
		Env: []string{},
		// These and no others: a pipe end that is kept open for days would
		// keep its reader from seeing the end.
		Files: []uintptr{fd, fd, fd},
		Sys: &syscall.SysProcAttr{
			Setsid:    true,
			Pdeathsig: syscall.SIGKILL,
		},
	}
	if os.Geteuid() == 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: uid, Gid: nogroup}
	}
	if cgroup != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(cgroup.Fd())
	}
	// Held over the fork, so that close sees the child.
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return 0, errClosing
	}
	pid, err := syscall.ForkExec(k.sleep, k.argv, attr)
	if err == nil {
		k.alive[pid] = true
	}
	return pid, err
}

// stop kills and reaps a placeholder. One that is not ours, or was reaped
// before, is left alone: its pid may be another process's by now.
func (k *keeper) stop(id proc.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.alive[id.PID] {
		k.kill(id.PID)
	}
}

func (k *keeper) kill(pid int) {
	unix.Kill(pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	delete(k.alive, pid)
}

// reap collects placeholders that ended by themselves (a user may kill his
// own, a stopped scope takes its along).
func (k *keeper) reap() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid := range k.alive {
		if n, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); n == pid || errors.Is(err, unix.ECHILD) {
			delete(k.alive, pid)
		}
	}
}

// close ends all placeholders and then the thread. Scopes with a live process
// stay as they are.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	k.closed = true
	for pid := range k.alive {
		k.kill(pid)
	}
	close(k.quit)
}
