package loader

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// The tests in this file and those after it ask this kernel, about programs of
// their own. They run the test binary under the names they want to see.

const roleVariable = "HEADROOMD_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "wait": // until the standard input ends
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "pid namespace":
		os.Exit(openInPIDNamespace())
	case "open":
		os.Exit(openEach())
	}
	os.Exit(m.Run())
}

// named makes a program of that name which is this test binary.
func named(t testing.TB, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs a program that waits until the test is over.
func start(t testing.TB, path string, change func(*exec.Cmd), args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), roleVariable+"=wait")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(c)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); c.Wait() })
	return c
}

// opened opens a source, or skips where this machine has it not.
func opened(t testing.TB, o Options) Source {
	t.Helper()
	s, _, err := Open(o)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("this machine has no %s source: %v", o.Want, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// until reads from a source as a daemon does, when it is readable, until an
// exec is the wanted one or the time is over.
func until(t testing.TB, s Source, patience time.Duration, wanted func(*proc.Exec) bool) bool {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		fds := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds())+1); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		found := false
		if err := s.Read(func(x *proc.Exec) { found = found || wanted(x) }); err != nil {
			t.Fatal(err)
		}
		if found {
			return true
		}
	}
	return false
}

// descriptors counts those of this process, its own listing left out.
func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func eachSource(t *testing.T, f func(t *testing.T, want string)) {
	for _, want := range []string{"bpf", "perf", "poll"} {
		t.Run(want, func(t *testing.T) { f(t, want) })
	}
}

func TestSourceReports(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		s := opened(t, Options{Want: want, Names: map[string]uint32{"hr-candidate-9": 5, "hr-cross-linux-gnu-gcc": 6}})
		if s.Name() != want {
			t.Fatalf("opened %q", s.Name())
		}
		heavy, light, cross := named(t, "hr-candidate-3.1"), named(t, "hr-light"), named(t, "hr-cross-linux-gnu-nm")
		var fs proc.FS

		before := time.Now()
		other := start(t, light, nil)
		c := start(t, heavy, nil, "-run", "one two", "")
		x := cross[len(cross)-len("hr-cross-linux-gnu-nm"):][:commBytes]
		d := start(t, cross, nil)
		var got, gotCross proc.Exec
		if !until(t, s, 5*time.Second, func(x *proc.Exec) bool {
			switch x.ID.PID {
			case other.Process.Pid:
				t.Errorf("a light one was reported: %+v", *x)
			case d.Process.Pid:
				gotCross = *x
			case c.Process.Pid:
				if err := fs.ReadCommand(x); err != nil {
					t.Errorf("read its command: %v", err)
				}
				got = *x
			}
			return got.ID.PID != 0 && gotCross.ID.PID != 0
		}) {
			t.Fatal("it was not reported")
		}
		if !slices.Equal(got.Argv, []string{heavy, "-run", "one two", ""}) {
			t.Errorf("argv %q", got.Argv)
		}
		if got.Comm != "hr-candidate-3." && got.Comm != "hr-candidate-3.1" || got.Tag != 5 || got.Source != want || got.Late != (want == "poll") {
			t.Errorf("reported %+v", got)
		}
		if got.Seen.Before(before.Add(-time.Millisecond)) || got.Seen.After(time.Now()) {
			t.Errorf("seen at %v, started after %v", got.Seen, before)
		}
		if gotCross.Comm != x || gotCross.Tag != 6|ArgvDecides {
			t.Errorf("reported %+v", gotCross)
		}
		n := s.Counters()
		if n.Seen < 3 || n.Reported < 2 || n.Reported > n.Seen || n.Lost != 0 {
			t.Errorf("counters %+v", n)
		}
	})
}

func TestSourceReportsAll(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		s := opened(t, Options{Want: want, All: true, Names: map[string]uint32{"hr-known": 7}})
		unknown, known := start(t, named(t, "hr-unknown"), nil), start(t, named(t, "hr-known"), nil)
		var seen int
		if !until(t, s, 5*time.Second, func(x *proc.Exec) bool {
			switch {
			case x.ID.PID == unknown.Process.Pid && x.Comm == "hr-unknown" && x.Tag == 0:
				seen |= 1
			case x.ID.PID == known.Process.Pid && x.Comm == "hr-known" && x.Tag == 7:
				seen |= 2
			}
			return seen == 3
		}) {
			t.Errorf("not both were reported: %b", seen)
		}
	})
}

func TestSourceChangesNames(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		s := opened(t, Options{Want: want, Names: map[string]uint32{"hr-old": 1}})
		f := s.(interface {
			SetNames(map[string]uint32, bool) error
		})
		if err := f.SetNames(map[string]uint32{"hr-new": 2}, false); err != nil {
			t.Fatal(err)
		}
		old, fresh := start(t, named(t, "hr-old"), nil), start(t, named(t, "hr-new"), nil)
		if !until(t, s, 5*time.Second, func(x *proc.Exec) bool {
			if x.ID.PID == old.Process.Pid {
				t.Errorf("the old name is still reported: %+v", *x)
			}
			return x.ID.PID == fresh.Process.Pid && x.Tag == 2
		}) {
			t.Error("the new name is not reported")
		}
	})
}

func TestSourceCloses(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		opened(t, Options{Want: want}).Close() // whatever is opened once for good
		before := descriptors(t)
		s := opened(t, Options{Want: want, Names: map[string]uint32{"x": 1}})
		if descriptors(t) == before {
			t.Error("an open source has no descriptor")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("a second time: %v", err)
		}
		if got := descriptors(t); got != before {
			t.Errorf("%d descriptors before, %d after", before, got)
		}
		if err := s.Read(func(*proc.Exec) {}); !errors.Is(err, ErrClosed) {
			t.Errorf("read from a closed source: %v", err)
		}
		if s.FD() != -1 {
			t.Errorf("a closed source has descriptor %d", s.FD())
		}
		s.Counters()
	})
}

// A daemon reads on one thread and sets, asks and ignores on others. The race
// detector judges.
func TestSourceIsShared(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		s := opened(t, Options{Want: want, Tick: time.Millisecond})
		stop, once := make(chan struct{}), make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() {
			for i := uint32(1); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if i == 2 {
					close(once)
				}
				s.Counters()
				if err := s.(interface {
					SetNames(map[string]uint32, bool) error
				}).SetNames(map[string]uint32{"hr-shared": i}, i%2 == 0); err != nil {
					t.Error(err)
				}
				if f, ok := s.(Filter); ok {
					if err := errors.Join(f.Ignore(1<<60, ""), f.Attend(1<<60)); err != nil {
						t.Error(err)
					}
				}
			}
		})
		<-once // what was executed before it has a name is rightly not reported
		c := start(t, named(t, "hr-shared"), nil)
		if !until(t, s, 10*time.Second, func(x *proc.Exec) bool { return x.ID.PID == c.Process.Pid }) {
			t.Error("not reported")
		}
		close(stop)
		others.Wait()
		s.Close()
		if n := s.Counters(); n.Seen == 0 {
			t.Errorf("counters after Close %+v", n)
		}
	})
}

// A source must answer at once when there is nothing.
func TestSourceDoesNotBlock(t *testing.T) {
	eachSource(t, func(t *testing.T, want string) {
		s := opened(t, Options{Want: want, Tick: time.Hour})
		begin := time.Now()
		for range 100 {
			if err := s.Read(func(x *proc.Exec) { t.Errorf("reported %+v", *x) }); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("100 reads of nothing took %v", took)
		}
	})
}
