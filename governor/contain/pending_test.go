package contain

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
)

func TestSignals(t *testing.T) {
	const (
		tstp = 1 << 19
		stop = 1 << 18
		term = 1 << 14
		usr1 = 1 << 9
	)
	type member struct {
		state                             byte
		thread, shared, blk, ign, handled uint64
	}
	for _, c := range []struct {
		name    string
		frozen  bool
		members []member
		want    Signals
	}{
		{"nobody", true, nil, Signals{Empty: true, Frozen: true}},
		{"one that waits", true, []member{{state: 'S'}}, Signals{Frozen: true}},
		{"Ctrl-Z", true, []member{{state: 'S'}, {state: 'S', shared: tstp}}, Signals{StopPending: true, Frozen: true}},
		{"kill -STOP of the first thread", true, []member{{state: 'S', thread: stop}}, Signals{StopPending: true, Frozen: true}},
		{"a blocked Ctrl-Z", true, []member{{state: 'S', shared: tstp, blk: tstp}}, Signals{Frozen: true}},
		{"an ignored Ctrl-Z", true, []member{{state: 'S', shared: tstp, ign: tstp}}, Signals{Frozen: true}},
		{"another signal", true, []member{{state: 'S', shared: usr1, handled: usr1}}, Signals{Frozen: true}},
		{"SIGTERM for a handler", true, []member{{state: 'S', shared: term, handled: term}}, Signals{EndPending: true, Frozen: true}},
		{"SIGTERM that came while it was stopped", true, []member{{state: 'S', shared: term}}, Signals{EndPending: true, Frozen: true}},
		{"SIGTERM for one that nohup started", true, []member{{state: 'S', shared: term, ign: term}}, Signals{Frozen: true}},
		{"stopped, with SIGTERM", true, []member{{state: 'T', shared: term | tstp}}, Signals{Stopped: true, Frozen: true}},
		{"stopped", false, []member{{state: 'T'}, {state: 'T'}}, Signals{Stopped: true}},
		{"stopped but for one", false, []member{{state: 'T'}, {state: 'R'}}, Signals{}},
		{"stopped and frozen after", true, []member{{state: 'T'}}, Signals{Stopped: true, Frozen: true}},
		{"stopped but for a zombie", false, []member{{state: 'T'}, {state: 'Z'}}, Signals{Stopped: true}},
		{"a zombie", false, []member{{state: 'Z'}}, Signals{Empty: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeMachine(t)
			s := f.systemd(t)
			const at = "/system.slice/headroom-npm-0011aabb.scope"
			f.mkcgroup(at)
			f.process(900, 1, at) // the placeholder is no member
			for i, m := range c.members {
				pid := 1000 + i
				f.process(pid, 1, at)
				dir := filepath.Join(f.proc, strconv.Itoa(pid))
				f.write(dir+"/stat", fmt.Sprintf("%d (x) %c 1 5 5 0 -1 0 1 2 3 4 70 80 5 6 20 0 1 0 %d 1000000 250 18446744073709551615 1 1 0 0\n", pid, m.state, 100+pid))
				f.write(dir+"/status", fmt.Sprintf("Name:\tx\nSigQ:\t0/1\nSigPnd:\t%016x\nShdPnd:\t%016x\nSigBlk:\t%016x\nSigIgn:\t%016x\nSigCgt:\t%016x\n",
					m.thread, m.shared, m.blk, m.ign, m.handled))
			}
			if c.frozen {
				f.file(at, "cgroup.freeze", "1\n")
			}
			sc := Scope{Unit: "headroom-npm-0011aabb.scope", Cgroup: at}
			sc.Placeholder.PID = 900
			if got := s.Signals(sc); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestSignalsOfNoScope(t *testing.T) {
	f := newFakeMachine(t)
	s := f.systemd(t)
	got := s.Signals(Scope{Unit: "headroom-npm-0011aabb.scope", Cgroup: "/system.slice/headroom-npm-0011aabb.scope"})
	if got != (Signals{Empty: true}) {
		t.Errorf("of a scope that is gone: %+v", got)
	}
	// More than are looked at: nothing is said of all of them.
	const at = "/system.slice/headroom-npm-0011aabb.scope"
	for i := range signalsOf + 1 {
		f.process(1000+i, 1, at)
		f.write(filepath.Join(f.proc, strconv.Itoa(1000+i), "stat"),
			fmt.Sprintf("%d (x) T 1 5 5 0 -1 0 1 2 3 4 70 80 5 6 20 0 1 0 7 1000000 250 18446744073709551615 1 1 0 0\n", 1000+i))
	}
	if got := s.Signals(Scope{Unit: "headroom-npm-0011aabb.scope", Cgroup: at}); got != (Signals{}) {
		t.Errorf("of too many: %+v", got)
	}
}
