package contain

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestVMTreeAndJoin(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sh", "-c", "sleep 500 & (sleep 500 & sleep 500 & wait) & while :; do sleep 0.3; done")
	time.Sleep(time.Second)
	sc, _ := mustPlace(t, s, cmd.Process.Pid, small, true)
	t.Logf("tree: %+v", sc)
	if sc.Moved < 5 {
		t.Errorf("moved %d", sc.Moved)
	}
	ids, _ := (proc.FS{}).Descendants(cmd.Process.Pid)
	for _, id := range ids {
		if at, err := (proc.FS{}).Cgroup(id.PID); err == nil && at != sc.Cgroup {
			t.Errorf("%d was left in %q", id.PID, at)
		}
	}
	other := bornIn(t, session, 1000, "sh", "-c", "sleep 500 & wait")
	eventually(t, "its child", func() bool { d, _ := (proc.FS{}).Descendants(other.Process.Pid); return len(d) == 1 })
	if n, err := s.Join(t.Context(), sc, facts(t, other.Process.Pid), true); n != 2 || err != nil {
		t.Errorf("Join = %d, %v", n, err)
	}
	if got := sh(t, fmt.Sprintf("cat /proc/%d/oom_score_adj", other.Process.Pid)); got != "900" {
		t.Errorf("oom_score_adj %s", got)
	}
	// What leaves is seen, and so is a changed cap.
	os.WriteFile("/sys/fs/cgroup"+session+"/cgroup.procs", []byte(strconv.Itoa(ids[0].PID)), 0)
	if esc, _ := s.Check(t.Context(), sc); !slices.Contains(esc, ids[0].PID) {
		t.Errorf("escaped %v, want %d among them", esc, ids[0].PID)
	}
	os.WriteFile("/sys/fs/cgroup"+sc.Cgroup+"/memory.max", []byte("max"), 0)
	if _, note := s.Check(t.Context(), sc); !strings.Contains(note, "memory.max is max") {
		t.Errorf("note %q", note)
	}
	got, err := s.SetLimits(t.Context(), sc, Limits{MemoryMax: 128 << 20, MemorySwapMax: 0})
	if err != nil || got.MemoryMax != 128<<20 || got.MemorySwapMax != 0 || len(got.Notes) != 0 {
		t.Errorf("SetLimits = %+v, %v", got, err)
	}
	sh(t, "systemctl daemon-reload")
	if _, note := s.Check(t.Context(), got); note != "" {
		t.Errorf("after a daemon-reload: %s", note)
	}
	cmd.Process.Kill()
	cmd.Wait()
	sh(t, "systemctl kill -s KILL "+sc.Unit)
	s.Release(t.Context(), sc)
	nothingLeft(t, sc.Unit)
	if _, err := s.Join(t.Context(), sc, facts(t, os.Getpid()), false); !errors.Is(err, ErrNoScope) {
		t.Errorf("Join after the end: %v", err)
	}
}

func TestVMAdopt(t *testing.T) {
	first := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	old, _ := mustPlace(t, first, cmd.Process.Pid, small, false)
	user := userRun(t, "--scope sleep 7100", "7100")
	oldUser, _ := mustPlace(t, first, user, small, false)
	if err := first.Freeze(old); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for _, id := range []proc.ID{old.Placeholder, old.OriginHolder, oldUser.Placeholder} {
		if st, err := (proc.FS{}).Stat(id.PID); err == nil && st.ID == id {
			t.Errorf("placeholder %v outlived Close", id)
		}
	}
	s := vmSystemd(t)
	all, err := s.Adopt(t.Context(), false)
	if err != nil || len(all) != 2 {
		t.Fatalf("Adopt = %+v, %v", all, err)
	}
	for _, sc := range all {
		t.Logf("%+v", sc)
		want := old
		if sc.Manager != "system" {
			want = oldUser
		}
		if sc.Unit != want.Unit || sc.CgroupID != want.CgroupID || sc.Main != want.Main || sc.MemoryMax != want.MemoryMax || !sc.OOMPolicy || sc.Moved != 1 {
			t.Errorf("adopted %+v, want %+v", sc, want)
		}
		if at, _ := (proc.FS{}).Cgroup(sc.Placeholder.PID); at != sc.Cgroup {
			t.Errorf("placeholder in %q", at)
		}
		if (sc.OriginHolder.PID != 0) != (sc.Manager == "system") {
			t.Errorf("OriginHolder %v", sc.OriginHolder)
		}
		if s.cg.frozen(sc.Cgroup) {
			t.Error("left frozen")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	syscall.Kill(user, syscall.SIGKILL)
	for _, sc := range all {
		s.Release(t.Context(), sc)
	}
	for _, sc := range all {
		nothingLeft(t, sc.Unit)
	}
}

func TestVMReconnect(t *testing.T) {
	s := vmSystemd(t)
	_, _, child := vmService(t, "")
	for _, break_ := range []string{"systemctl daemon-reexec", "systemctl restart dbus.service"} {
		sh(t, break_)
		if o, err := s.Look(t.Context(), facts(t, child)); err != nil || o.Refuse != "" {
			t.Errorf("after %s: %+v, %v", break_, o, err)
		}
	}
	// logind does not survive its bus; the tests after this one want it.
	sh(t, "systemctl restart systemd-logind.service")
	sh(t, "systemctl daemon-reexec")
	sc, _ := mustPlace(t, s, child, small, false)
	if sc.Moved != 1 || len(sc.Notes) != 0 {
		t.Errorf("%+v", sc)
	}
}

func TestVMGone(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	cmd := bornIn(t, session, 1000, "sleep", "500")
	x := facts(t, cmd.Process.Pid)
	o, err := s.Look(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill() // a zombie until it is waited for
	time.Sleep(200 * time.Millisecond)
	if sc, err := s.Place(t.Context(), Spec{Unit: UnitName("gone"), Exec: x, Origin: o, Limits: small}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Place of a zombie = %+v, %v", sc, err)
	}
	cmd.Wait()
	if sc, err := s.Place(t.Context(), Spec{Unit: UnitName("gone"), Exec: x, Origin: o, Limits: small}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Place of nobody = %+v, %v", sc, err)
	}
	nothingLeft(t, "headroom-gone")
}

// TestVMTimings prints what the steps cost; nothing is asserted.
func TestVMTimings(t *testing.T) {
	s := vmSystemd(t)
	session := vmSession(t)
	dist := func(name string, d []time.Duration) {
		slices.Sort(d)
		if len(d) > 0 {
			fmt.Printf("TIMING %-28s n=%d min %v p50 %v max %v\n", name, len(d), d[0].Round(100*time.Microsecond), d[len(d)/2].Round(100*time.Microsecond), d[len(d)-1].Round(100*time.Microsecond))
		}
	}
	var cold, warm, place, join, release, holder []time.Duration
	for range 20 {
		cmd := bornIn(t, session, 1000, "sleep", "500")
		x := facts(t, cmd.Process.Pid)
		begin := time.Now()
		clear(s.facts)
		s.Look(t.Context(), x)
		cold = append(cold, time.Since(begin))
		begin = time.Now()
		o, err := s.Look(t.Context(), x)
		warm = append(warm, time.Since(begin))
		if err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		ph, err := s.hold.start(1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		holder = append(holder, time.Since(begin))
		s.hold.stop(ph)
		begin = time.Now()
		sc, err := s.Place(t.Context(), Spec{Unit: UnitName("time"), Exec: x, Origin: o, Limits: small})
		if err != nil {
			t.Fatal(err)
		}
		place = append(place, time.Since(begin))
		other := bornIn(t, session, 1000, "sleep", "500")
		y := facts(t, other.Process.Pid)
		begin = time.Now()
		s.Join(t.Context(), sc, y, false)
		join = append(join, time.Since(begin))
		for _, c := range []*exec.Cmd{cmd, other} {
			c.Process.Kill()
			c.Wait()
		}
		begin = time.Now()
		s.Release(t.Context(), sc)
		release = append(release, time.Since(begin))
	}
	dist("look, nothing known", cold)
	dist("look, unit known", warm)
	dist("start a placeholder", holder)
	dist("place", place)
	dist("join", join)
	dist("release", release)
}
