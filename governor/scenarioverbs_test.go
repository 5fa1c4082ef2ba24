package governor

import (
	"strconv"
	"strings"
)

// apply does to the machine what a line of a scenario says:
//
//	config mode=M isolate=B slots=N timeout=S action=admit|refuse most=MB watch=B
//	       protect=UNIT guards=machine|user
//	                                    while it runs: a reload
//	memory total=MB available=MB swap=MB [live]   live: less what processes have
//	dip MB N                            the next N readings of the memory are of so much
//	trees error=E                       what is no job does not end
//	backend place=D join=D release=D refuse=R place-error=E join-error=E no-scopes no-controller
//	scope UNIT cap=MB [frozen]          left by an earlier run
//	proc PID [ppid=] [pgid=] [uid=] [login=] [cgroup=] [rss=MB] [in=PIPE] [out=PIPE]
//	                                    [stdin=PATH] [start=now] [lock] -- ARGV…
//	exec PID [catch=stopped|running|none] [late=true] [as proc] -- ARGV…
//	                                    in a process that is there, or a new child of the shell
//	grow PID MB · exit PID… · oom PID peak=MB · remove PID (its scope) · lose N
//	idle PID… · work PID…               use no CPU, and a whole one again
//	ctrl-z PID · cont PID · ctrl-c PID  to a process in a scope; it handles Ctrl-C itself
//	run PID [wait=S] [slotless] -- ARGV…  asked for by a process PID-1
//	withdraw PID · stop PID by=UID      the asker of a run goes; a job is stopped
//	queue                               what waits, in its order
func (w *world) apply(s statement) {
	w.t.Helper()
	switch s.verb {
	case "config":
		w.reload(s)
	case "memory":
		w.setMemory(s)
	case "dip":
		w.memory.mu.Lock()
		defer w.memory.mu.Unlock()
		w.memory.dip, w.memory.dips = int64(s.arg(0))<<20, s.arg(1)
	case "trees":
		w.trees.mu.Lock()
		defer w.trees.mu.Unlock()
		w.trees.err = s.fault("error", nil)
	case "backend":
		w.setBackend(s)
	case "scope":
		w.backend.with(func(b *fakeBackend) {
			sc := s.leftScope()
			sc.CgroupID += uint64(len(b.left))
			b.left = append(b.left, sc)
		})
	case "proc":
		w.proc.add(s.process(0))
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
	case "idle", "work":
		for i := range s.args {
			w.proc.change(s.arg(i), func(n *fakeProcess) { n.idle = s.verb == "idle" })
		}
	case "ctrl-z", "cont", "ctrl-c":
		w.signal(s)
	case "run":
		w.run(s)
	case "withdraw":
		w.askers[s.arg(0)]()
	case "stop":
		w.stopJob(s)
	case "queue":
		w.tellQueue()
	default:
		s.unknown()
	}
}

// process is the process that a statement describes.
func (s statement) process(pgid int) fakeProcess {
	n := fakeProcess{pid: s.arg(0), ppid: s.number("ppid", shell), pgid: s.number("pgid", pgid), argv: s.argv,
		exe: "/usr/bin/" + s.argv[0], uid: uint32(s.number("uid", 0)), login: uint32(s.number("login", s.number("uid", 0))),
		cgroup: s.word("cgroup", ""), rssMB: float64(s.number("rss", 0)), in: s.number("in", 0), out: s.number("out", 0), stdin: s.word("stdin", "")}
	if s.word("start", "") == "now" {
		n.start = TicksNow()
	}
	for _, word := range s.args[1:] {
		n.lock = n.lock || word == "lock"
	}
	return n
}

func (w *world) exec(s statement) {
	pid := s.arg(0)
	if !w.proc.has(pid) {
		w.proc.add(s.process(pid))
	} else {
		w.proc.exec(pid, s.argv...)
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
	for _, word := range s.args {
		if word != "live" {
			w.t.Fatalf("%q: what is %q?", s.text, word)
		}
		w.memory.live = w.proc
	}
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
				w.gov.o.Contain.MemoryController = w.gov.o.Contain.MemoryController && w.ended != nil // before the start
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
