package governor

import (
	"strconv"
	"strings"
)

// apply does to the machine what a line of a scenario says:
//
//	config mode=M isolate=B slots=N timeout=S action=admit|refuse most=MB
//	                                    while it runs: a reload
//	memory total=MB available=MB swap=MB
//	backend place=D join=D release=D refuse=R place-error=E join-error=E no-scopes no-controller
//	scope UNIT cap=MB                   left by an earlier run
//	proc PID [ppid=] [pgid=] [uid=] [cgroup=] [rss=MB] -- ARGV…
//	exec PID [catch=stopped|running|none] [late=true] -- ARGV…
//	                                    in a process that is there, or a new child of the shell
//	grow PID MB · exit PID… · oom PID peak=MB · remove PID (its scope) · lose N
func (w *world) apply(s statement) {
	w.t.Helper()
	switch s.verb {
	case "config":
		w.reload(s)
	case "memory":
		w.setMemory(s)
	case "backend":
		w.setBackend(s)
	case "scope":
		w.backend.with(func(b *fakeBackend) { b.left = append(b.left, s.leftScope()) })
	case "proc":
		w.proc.add(fakeProcess{pid: s.arg(0), ppid: s.number("ppid", shell), pgid: s.number("pgid", 0), argv: s.argv,
			exe: "/usr/bin/" + s.argv[0], uid: uint32(s.number("uid", 0)), cgroup: s.word("cgroup", ""),
			rssMB: float64(s.number("rss", 0))})
	case "exec":
		w.exec(s)
	case "grow":
		w.proc.change(s.arg(0), func(n *fakeProcess) { n.rssMB = float64(s.arg(1)) })
	case "exit":
		for i := range s.args {
			w.proc.exit(s.arg(i))
		}
	case "oom":
		w.scopeOf(s.arg(0), func(sc *fakeScope) { sc.oom, sc.peakMB = sc.oom+1, int64(s.number("peak", 0)) })
		w.proc.exit(s.arg(0))
	case "remove":
		w.scopeOf(s.arg(0), func(sc *fakeScope) { sc.gone = true })
		w.proc.exit(s.arg(0))
	case "lose":
		w.sight.lose(uint64(s.arg(0)))
	default:
		s.unknown()
	}
}

func (w *world) exec(s statement) {
	pid := s.arg(0)
	if !w.proc.has(pid) {
		w.fork(pid, s.number("ppid", shell), s.number("pgid", pid), s.argv...)
	} else {
		w.proc.exec(pid, s.argv...)
	}
	if mb := s.number("rss", 0); mb != 0 {
		w.proc.change(pid, func(n *fakeProcess) { n.rssMB = float64(mb) })
	}
	switch s.word("catch", "stopped") {
	case "stopped":
		w.tracer(pid, false)
	case "running":
		w.tracer(pid, true)
	case "none":
		w.found(pid, s.word("late", "") == "true")
	default:
		w.t.Fatalf("%q: no such catch", s.text)
	}
}

func (w *world) setMemory(s statement) {
	w.memory.mu.Lock()
	defer w.memory.mu.Unlock()
	r := &w.memory.reading
	r.MemTotal = int64(s.number("total", int(r.MemTotal>>20))) << 20
	r.MemAvailable = int64(s.number("available", int(r.MemAvailable>>20))) << 20
	r.SwapTotal = int64(s.number("swap", int(r.SwapTotal>>20))) << 20
	r.SwapFree = r.SwapTotal
}

func (w *world) setBackend(s statement) {
	w.backend.with(func(b *fakeBackend) {
		b.placeTakes = s.duration("place", b.placeTakes)
		b.joinTakes = s.duration("join", b.joinTakes)
		b.releaseTakes = s.duration("release", b.releaseTakes)
		b.refuse = s.word("refuse", b.refuse)
		b.placeErr = s.fault("place-error", b.placeErr)
		b.joinErr = s.fault("join-error", b.joinErr)
		for _, word := range s.args {
			switch word {
			case "no-scopes":
				b.noScopes = true
			case "no-controller":
				b.noController = true
			default:
				w.t.Fatalf("%q: what is %q?", s.text, word)
			}
		}
	})
}

// scopeOf changes the scope that a process is in.
func (w *world) scopeOf(pid int, do func(*fakeScope)) {
	w.t.Helper()
	cgroup, err := w.proc.fs().Cgroup(pid)
	if err != nil {
		w.t.Fatal(err)
	}
	w.backend.with(func(b *fakeBackend) {
		sc := b.scopes[cgroup]
		if sc == nil {
			w.t.Fatalf("pid %s sits in %s, which is no scope (%s)", strconv.Itoa(pid), cgroup, strings.Join(w.line, "\n"))
			return
		}
		do(sc)
	})
}
