package contain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// softProc writes what the sums read of a made-up process, in MB.
func softProc(t *testing.T, root string, pid int, resident, anon, shmem, pss int) {
	t.Helper()
	dir := filepath.Join(root, strconv.Itoa(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"statm":  fmt.Sprintf("0 %d 0 0 0 0 0\n", resident<<20/os.Getpagesize()),
		"status": fmt.Sprintf("Name:\tx\nRssAnon:\t%d kB\nRssFile:\t%d kB\nRssShmem:\t%d kB\nVmSwap:\t0 kB\n", anon<<10, (resident-anon-shmem)<<10, shmem<<10),
	}
	if pss >= 0 {
		files["smaps_rollup"] = fmt.Sprintf("x [rollup]\nPss: %d kB\nPss_Anon: %d kB\nPss_File: 0 kB\nPss_Shmem: 0 kB\nSwapPss: 0 kB\n", pss<<10, pss<<10)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSoftSum(t *testing.T) {
	type process struct{ resident, anon, shmem, pss int }
	tests := []struct {
		name    string
		procs   []process // pids 1000, 1001, …
		limit   int64     // MB
		want    int64     // MB
		precise bool
		largest int // pid; 0 where it was not asked
	}{
		{"far from the cap", []process{{30, 20, 0, -1}, {20, 10, 0, -1}}, 100, 50, false, 0},
		{"over it with files alone", []process{{300, 20, 5, -1}}, 100, 25, false, 1000},
		{"over it with what is shared", []process{{90, 80, 0, 30}, {90, 80, 0, 31}}, 100, 61, true, 1001},
		{"over it", []process{{90, 80, 0, 75}, {40, 39, 0, 38}}, 100, 113, true, 1000},
		{"a share that may not be read", []process{{120, 115, 0, -1}}, 100, 115, true, 1000},
		{"nobody", nil, 100, 0, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			var pids []int
			for i, p := range tt.procs {
				softProc(t, root, 1000+i, p.resident, p.anon, p.shmem, p.pss)
				pids = append(pids, 1000+i)
			}
			pids = append(pids, 999) // ended since the list
			got := new(softJob).sum(proc.NewFS(root), pids, tt.limit<<20, time.Now())
			largest := 0
			if got.sorted(); len(got.have) > 0 {
				largest = got.have[0].pid
			}
			if got.bytes>>20 != tt.want || got.precise != tt.precise || largest != tt.largest {
				t.Errorf("got %d MB, precise %v, largest %d; want %d, %v, %d",
					got.bytes>>20, got.precise, largest, tt.want, tt.precise, tt.largest)
			}
		})
	}
}

// TestSoftSumRemembers: how much is shared is found out once in a while, and not
// at each look.
func TestSoftSumRemembers(t *testing.T) {
	root := t.TempDir()
	softProc(t, root, 1000, 90, 80, 0, 40)
	softProc(t, root, 1001, 90, 80, 0, 40)
	j, at := new(softJob), time.Now()
	sum := func(after time.Duration) softSum {
		return j.sum(proc.NewFS(root), []int{1000, 1001}, 100<<20, at.Add(after))
	}
	if s := sum(0); !s.precise || s.bytes>>20 != 80 {
		t.Fatalf("first: %+v", s)
	}
	if s := sum(time.Second); s.precise || s.bytes>>20 != 80 {
		t.Errorf("a second later: %d MB, precise %v; want the 80 MB that are known", s.bytes>>20, s.precise)
	}
	if s := sum(3 * time.Second); !s.precise {
		t.Error("what was known is believed for too long")
	}
	softProc(t, root, 1001, 130, 120, 0, 80)
	if s := sum(3500 * time.Millisecond); !s.precise || s.bytes>>20 != 120 {
		t.Errorf("after it grew: %d MB, precise %v; want 120 found out at once", s.bytes>>20, s.precise)
	}
}

func TestSoftInterval(t *testing.T) {
	s := NewSoftCaps(proc.NewFS(t.TempDir()), "")
	for _, tt := range []struct {
		roomMB int64
		want   time.Duration
	}{{0, softLeast}, {-5, softLeast}, {60, 50 * time.Millisecond}, {4000, softMost}} {
		if got := s.interval(tt.roomMB << 20); got != tt.want {
			t.Errorf("with %d MB of room: %v, want %v", tt.roomMB, got, tt.want)
		}
	}
	s.fill = 6 * softFill // faster was seen here
	if got := s.interval(360 << 20); got != 50*time.Millisecond {
		t.Errorf("with 360 MB of room and 3.6 GB/s: %v, want 50ms", got)
	}
}

// softHog is this test binary again, which touches memory at full speed and
// stays.
func softHog(t testing.TB, mb int) (*exec.Cmd, proc.ID) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSoftHogProcess$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("HEADROOM_SOFT_HOG=%d", mb))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	st, err := proc.NewFS("/proc").Stat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, st.ID
}

// TestSoftHogProcess is no test but the hog of the others.
func TestSoftHogProcess(t *testing.T) {
	mb, err := strconv.Atoi(os.Getenv("HEADROOM_SOFT_HOG"))
	if err != nil {
		return
	}
	var kept [][]byte
	for range mb {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
	}
	time.Sleep(time.Minute)
	t.Log(len(kept))
}

func softRun(t testing.TB, s *SoftCaps) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// TestSoftCaps kills a child that outgrows its cap, and leaves one alone that
// does not.
func TestSoftCaps(t *testing.T) {
	s := NewSoftCaps(proc.NewFS("/proc"), "")
	softRun(t, s)
	small, smallID := softHog(t, 4)
	s.Set(Scope{Main: smallID}, 400<<20, Infinity)
	hog, id := softHog(t, 300)
	sc := Scope{Main: id}
	s.Set(sc, 100<<20, Infinity)
	var status syscall.WaitStatus
	if err := hog.Wait(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			status = exit.Sys().(syscall.WaitStatus)
		}
	}
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the hog ended with %v, want SIGKILL", status)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		kills, last, peak, ok := s.Count(sc)
		if kills == 1 && ok {
			if last.PID != id.PID || last.Name == "" || last.Cap != 100<<20 || last.Sum <= last.Cap || peak < last.Cap {
				t.Errorf("told is %+v, peak %d", last, peak)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d kills are counted, want 1", kills)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := small.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the one within its cap: %v", err)
	}
	if kills, _, _, _ := s.Count(Scope{Main: smallID}); kills != 0 {
		t.Errorf("%d kills of the one within its cap", kills)
	}
	s.Drop(sc)
	if _, _, _, ok := s.Count(sc); ok {
		t.Error("a dropped job is known still")
	}
}

// TestSoftAct: who may not be killed is passed over, and so is a set-id program.
func TestSoftAct(t *testing.T) {
	root := t.TempDir()
	for pid, euid := range map[int]uint32{1000: 0, 1001: 1000, 1002: 1000} {
		aProcess(t, root, pid, 1000, euid, false)
	}
	s := NewSoftCaps(proc.NewFS(root), "")
	var asked []int
	s.kill = func(id proc.ID) (time.Duration, error) {
		asked = append(asked, id.PID)
		if id.PID == 1001 {
			return 0, syscall.EPERM
		}
		return time.Millisecond, nil
	}
	sum := softSum{bytes: 90, have: []softPart{{1002, 20}, {1000, 40}, {1001, 30}}}
	w := softCap{scope: Scope{Cgroup: "/user.slice/user-1000.slice/session-2.scope"}, limit: 50}
	got := s.act(new(softJob), w, sum)
	if got == nil || got.PID != 1002 || got.Bytes != 20 || got.Sum != 90 || !slices.Equal(asked, []int{1001, 1002}) {
		t.Errorf("killed %+v after asking for %d; want 1002 after 1001, and never 1000", got, asked)
	}
	w.scope.Cgroup = "/elsewhere"
	if got := s.act(new(softJob), w, sum); got != nil {
		t.Errorf("killed %+v, which is in another cgroup", got)
	}
}

// TestSoftTree: without a cgroup a job is its root and what descends from it,
// and a process of that number which began later is a stranger.
func TestSoftTree(t *testing.T) {
	_, id := softHog(t, 1)
	s := NewSoftCaps(proc.NewFS("/proc"), "")
	if got := s.members(new(softJob), softCap{scope: Scope{Main: id}}, time.Now()); len(got) != 1 || got[0] != id.PID {
		t.Errorf("members are %d, want %d alone", got, id.PID)
	}
	self, err := proc.NewFS("/proc").Stat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !s.belongs(Scope{Main: self.ID}, id.PID) || !s.belongs(Scope{Main: id}, id.PID) || s.belongs(Scope{Main: id}, self.ID.PID) {
		t.Error("a child is of its parent's job, and not the other way round")
	}
	other := proc.ID{PID: id.PID, Start: id.Start + 1}
	if got := s.members(new(softJob), softCap{scope: Scope{Main: other}}, time.Now()); len(got) != 0 {
		t.Errorf("members of one that is gone: %d", got)
	}
}

// BenchmarkSoftOvershoot is by how much a process that allocates at full speed
// is over its cap when it is killed.
func BenchmarkSoftOvershoot(b *testing.B) {
	var worst, sum int64
	for b.Loop() {
		s := NewSoftCaps(proc.NewFS("/proc"), "")
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		hog, id := softHog(b, 600)
		s.Set(Scope{Main: id}, 200<<20, Infinity)
		hog.Wait()
		for range 1000 {
			if kills, last, _, _ := s.Count(Scope{Main: id}); kills > 0 {
				worst, sum = max(worst, last.Sum-last.Cap), sum+last.Sum-last.Cap
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-done
	}
	b.ReportMetric(float64(sum)/float64(b.N)/(1<<20), "MB-over")
	b.ReportMetric(float64(worst)/(1<<20), "MB-worst")
}

// BenchmarkSoftSum is what one look costs at a job far from its cap, and at one
// over it with files.
func BenchmarkSoftSum(b *testing.B) {
	fs := proc.NewFS("/proc")
	for _, n := range []int{1, 10, 100} {
		pids := make([]int, n)
		for i := range pids {
			pids[i] = os.Getpid()
		}
		for name, limit := range map[string]int64{"far": 1 << 50, "near": 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				j := &softJob{over: 1 << 50, precise: time.Now().Add(time.Hour)}
				for b.Loop() {
					j.sum(fs, pids, limit, time.Now())
				}
			})
		}
	}
}

// TestSoft: a tier that enforces nothing has its caps kept by measuring, and
// says which.
func TestSoft(t *testing.T) {
	_, id := softHog(t, 4)
	fs := proc.NewFS("/proc")
	s := NewSoft(NewNone(fs, "a test"), NewSoftCaps(fs, ""))
	sc, err := s.Place(t.Context(), Spec{Exec: proc.Exec{ID: id}, Limits: Limits{MemoryMax: 300 << 20, MemorySwapMax: 8 << 20}})
	if err != nil || !sc.SoftCap || sc.MemoryController || sc.MemoryMax != 300<<20 || sc.MemorySwapMax != 8<<20 {
		t.Fatalf("placed as %+v, %v; want a soft cap of 300 MB", sc, err)
	}
	if u := s.Usage(sc); u.OOMKills != 0 || u.Gone {
		t.Errorf("usage %+v, want no kill counted", u)
	}
	if sc, err = s.SetLimits(t.Context(), sc, Limits{MemoryMax: 200 << 20}); err != nil || sc.MemoryMax != 200<<20 {
		t.Errorf("another cap: %+v, %v", sc, err)
	}
	if _, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: Infinity}); err != nil {
		t.Error(err)
	}
	if err := s.Release(t.Context(), sc); err != nil {
		t.Error(err)
	}
	if _, _, _, ok := s.Caps.Count(sc); ok {
		t.Error("a job that is over is measured still")
	}
}
