package governor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"
)

// TestAnythingInAnyOrder plays random events against the queue: commands of
// three users, signals, deaths, scopes that go, orders that fail, settings that
// change. Whatever came, at the end nothing stands still, nothing waits, no slot
// is taken, and the source drops nothing.
func TestAnythingInAnyOrder(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(o *Options) { o.Config.QueueTimeoutS = 20 }, func(w *world) {
				r := rand.New(rand.NewPCG(seed, 7))
				p := &player{world: w, rand: r, next: 1000, stop: context.Background()}
				for range 150 {
					p.step()
					w.after(time.Duration(r.IntN(400)) * time.Millisecond)
				}
				p.calm()
				w.after(60 * turn)
				s := w.snapshot()
				if len(s.Jobs)+len(s.Queue)+w.slots() != 0 || len(w.sight.ignored) != 0 {
					t.Errorf("left: %+v, %+v, %d slots, ignored %v", s.Jobs, s.Queue, w.slots(), w.sight.ignored)
				}
				if left := w.backend.stranded(); len(left) != 0 {
					t.Errorf("frozen: %v", left)
				}
				w.forgive("let a job go")
			})
		})
	}
}

// forgive takes the errors off the log that were asked for.
func (w *world) forgive(what string) {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	var rest []string
	for l := range strings.Lines(w.log.text.String()) {
		if !strings.Contains(l, what) {
			rest = append(rest, l)
		}
	}
	w.log.text.Reset()
	w.log.text.WriteString(strings.Join(rest, ""))
}

// player does random things to a world.
type player struct {
	*world
	rand *rand.Rand
	next int
	all  []int
	stop context.Context
}

func (p *player) step() {
	switch n := p.rand.IntN(100); {
	case n < 30:
		p.command()
	case n < 40:
		p.asks()
	case n < 60:
		if pid, ok := p.any(); ok {
			p.proc.exit(pid)
		}
	case n < 72:
		p.signals()
	case n < 76:
		if pid, ok := p.any(); ok {
			p.proc.change(pid, func(n *fakeProcess) { n.idle, n.rssMB = !n.idle, float64(p.rand.IntN(500)) })
		}
	case n < 80:
		p.memory.mu.Lock()
		p.memory.reading.MemAvailable = int64(p.rand.IntN(900)) << 20
		p.memory.mu.Unlock()
	case n < 88:
		p.fault()
	case n < 92:
		p.scopeGoes()
	case n < 95:
		p.stopsOne()
	default:
		c := p.gov.o.Config
		c.MaxHeavyJobs = p.rand.IntN(4)
		c.QueueTimeoutAction = []string{"admit", "refuse"}[p.rand.IntN(2)]
		c.Mode = []string{ModeEnforce, ModeEnforce, ModeEnforce, ModeObserve, ModeOff}[p.rand.IntN(5)]
		if err := p.gov.Reload(p.t.Context(), c, p.gov.o.Rules); err != nil {
			p.t.Error(err)
		}
	}
}

// any is a process that is there.
func (p *player) any() (int, bool) {
	for range 20 {
		if len(p.all) == 0 {
			return 0, false
		}
		if pid := p.all[p.rand.IntN(len(p.all))]; p.proc.has(pid) {
			return pid, true
		}
	}
	return 0, false
}

func (p *player) command() {
	pid := p.next
	p.next += 10
	n := fakeProcess{pid: pid, ppid: 1, pgid: pid, argv: []string{[]string{"npm", "make", "pytest", "apt"}[p.rand.IntN(4)]},
		uid: uint32(1000 + p.rand.IntN(3)), cgroup: session, rssMB: float64(p.rand.IntN(50)), lock: p.rand.IntN(10) == 0}
	n.login, n.exe = n.uid, "/usr/bin/"+n.argv[0]
	if other, ok := p.any(); ok && p.rand.IntN(4) == 0 {
		n.pgid = other
	}
	p.proc.add(n)
	p.all = append(p.all, pid)
	switch p.rand.IntN(4) {
	case 0:
		p.found(pid, p.rand.IntN(2) == 0)
	case 1:
		p.tracer(pid, true)
	default:
		p.tracer(pid, false)
	}
}

func (p *player) asks() {
	pid := p.next + 1
	p.next += 10
	ctx, cancel := context.WithCancel(p.stop)
	time.AfterFunc(time.Duration(p.rand.IntN(40))*time.Second, cancel)
	p.world.asks(ctx, pid, "make")
	p.all = append(p.all, pid)
}

func (p *player) signals() {
	pid, ok := p.any()
	if !ok {
		return
	}
	cgroup, err := p.proc.fs().Cgroup(pid)
	if err != nil || !jobCgroup(cgroup) {
		return
	}
	p.signal(statement{t: p.t, verb: []string{"ctrl-z", "cont", "cont", "ctrl-c"}[p.rand.IntN(4)], args: []string{fmt.Sprint(pid)}})
}

// fault has some orders fail from now on, or none.
func (p *player) fault() {
	fail := func() error {
		if p.rand.IntN(4) == 0 {
			return errors.New("it cannot be done")
		}
		return nil
	}
	p.backend.with(func(b *fakeBackend) {
		b.placeErr, b.joinErr, b.limitErr = fail(), fail(), fail()
		b.freezeErr, b.thawErr, b.stopErr = fail(), fail(), fail()
		b.blind = p.rand.IntN(6) == 0
	})
}

func (p *player) scopeGoes() {
	pid, ok := p.any()
	if !ok {
		return
	}
	cgroup, err := p.proc.fs().Cgroup(pid)
	if err != nil || !jobCgroup(cgroup) {
		return
	}
	p.backend.with(func(b *fakeBackend) {
		if s := b.scopes[cgroup]; s != nil {
			s.gone, s.frozen = true, false
		}
	})
	pids, _ := p.proc.in(path.Clean(cgroup))
	for _, pid := range pids {
		p.proc.exit(pid)
	}
}

func (p *player) stopsOne() {
	s := p.snapshot()
	all := append(s.Jobs, s.Queue...)
	if len(all) == 0 {
		return
	}
	id := all[p.rand.IntN(len(all))].ID
	go func() { _ = p.gov.StopJob(p.stop, id, 0) }()
}

// calm ends all that is there, with nothing failing any more.
func (p *player) calm() {
	p.backend.with(func(b *fakeBackend) {
		b.placeErr, b.joinErr, b.limitErr, b.freezeErr, b.thawErr, b.stopErr, b.blind = nil, nil, nil, nil, nil, nil, false
	})
	for range 3 { // what waits starts when others end
		p.after(2 * turn)
		for _, pid := range p.all {
			if p.proc.has(pid) {
				p.proc.exit(pid)
			}
		}
	}
}
