package governor

import (
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

func TestTimeoutOf(t *testing.T) {
	tests := []struct {
		argv string
		want time.Duration // 0 none
	}{
		{"timeout 60 npm test", time.Minute},
		{"/usr/bin/timeout 1.5 make", 1500 * time.Millisecond},
		{"timeout 10s make", 10 * time.Second},
		{"timeout 10m make", 10 * time.Minute},
		{"timeout 2h make", 2 * time.Hour},
		{"timeout 1d make", 24 * time.Hour},
		{"gtimeout 60 make", time.Minute},
		{"timeout -k 5 60 make", time.Minute},
		{"timeout -k5s 60 make", time.Minute},
		{"timeout --kill-after=5 60 make", time.Minute},
		{"timeout --kill-after 5 60 make", time.Minute},
		{"timeout --kill 5 60 make", time.Minute},
		{"timeout -s KILL 60 make", time.Minute},
		{"timeout -sKILL 60 make", time.Minute},
		{"timeout --signal=9 60 make", time.Minute},
		{"timeout --foreground --preserve-status -v 60 make", time.Minute},
		{"timeout -vs TERM -k 1 60 make", time.Minute},
		{"timeout -- 60 make", time.Minute},
		{"timeout -v -- 60 make -k 5", time.Minute},
		{"busybox timeout -s KILL 60 make", time.Minute},
		{"busybox timeout -t 60 make", time.Minute},
		{"timeout -t60 make", time.Minute},
		{"toybox timeout -i -k 3 60 make", time.Minute},
		{"timeout 0 make", 0},
		{"timeout inf make", 0},
		{"timeout nan make", 0},
		{"timeout 1e12 make", 0},
		{"timeout -5 make", 0},
		{"timeout ten make", 0},
		{"timeout 10x make", 0},
		{"timeout", 0},
		{"timeout --", 0},
		{"timeout -k", 0},
		{"timeout -s KILL", 0},
		{"timeout --kill-after", 0},
		{"timeout --", 0},
		{"busybox", 0},
		{"busybox sh -c x", 0},
		{"make 60", 0},
		{"", 0},
	}
	for _, tt := range tests {
		t.Run(tt.argv, func(t *testing.T) {
			got, _, ok := timeoutOf(strings.Fields(tt.argv))
			if got != tt.want || ok != (tt.want > 0) {
				t.Errorf("got %v, %v, want %v", got, ok, tt.want)
			}
		})
	}
}

func FuzzTimeoutOf(f *testing.F) {
	f.Add("timeout\x00-k\x005\x0060\x00make")
	f.Add("busybox\x00timeout\x00-t")
	f.Fuzz(func(t *testing.T, text string) {
		if d, _, ok := timeoutOf(strings.Split(text, "\x00")); ok && (d < 0 || d > 366*24*time.Hour) {
			t.Errorf("%v of %q", d, text)
		}
	})
}

// fakeLine is a line of ancestors, the nearest first.
type fakeLine struct {
	up   []proc.Stat
	argv map[int]string
	err  error
}

func (f *fakeLine) Ancestors(int, int) ([]proc.Stat, error) { return f.up, f.err }
func (f *fakeLine) Exe(int) (string, error)                 { return "", nil }
func (f *fakeLine) Comm(pid int) (string, error) {
	argv, err := f.Cmdline(pid)
	if err != nil || len(argv) == 0 {
		return "", err
	}
	return path.Base(argv[0]), nil
}
func (f *fakeLine) Stat(pid int) (proc.Stat, error) {
	return proc.Stat{ID: proc.ID{PID: pid, Start: 1000}}, nil
}
func (f *fakeLine) Cmdline(pid int) ([]string, error) {
	text, ok := f.argv[pid]
	if !ok {
		return nil, proc.ErrGone
	}
	return strings.Fields(text), nil
}

// line makes it from "comm@start: argv" texts; the pids count down from 90.
func line(ancestors ...string) *fakeLine {
	f := &fakeLine{argv: make(map[int]string)}
	for i, text := range ancestors {
		comm, argv, _ := strings.Cut(text, ": ")
		pid := 90 - i
		f.up = append(f.up, proc.Stat{ID: proc.ID{PID: pid, Start: 1000}, Comm: comm})
		if argv != "gone" {
			f.argv[pid] = argv
		}
	}
	return f
}

// beside adds two processes that are no ancestors.
func (f *fakeLine) beside(pid int, argv string, other int, otherArgv string) *fakeLine {
	f.argv[pid], f.argv[other] = argv, otherArgv
	return f
}

func TestPatienceOf(t *testing.T) {
	const queue = 300 * time.Second
	tests := []struct {
		name  string
		above *fakeLine
		age   time.Duration // of all above
		want  patience
	}{
		{"nobody in a hurry", line("bash: -bash", "tmux: server: tmux"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"timeout", line("timeout: timeout 60 npm test", "bash: -bash"), 0,
			patience{limit: 15 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 90)"}},
		{"timeout above a shell", line("sh: sh -c make", "timeout: timeout -k 5 2m sh -c make"), 0,
			patience{limit: 30 * time.Second, why: "a quarter of what is left of timeout 2m0s (pid 89)"}},
		{"most of it is over", line("timeout: timeout 60 sh x"), 40 * time.Second,
			patience{limit: 5 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 90)"}},
		{"all of it is over", line("timeout: timeout 60 sh x"), time.Hour,
			patience{limit: leastPatience, why: "a quarter of what is left of timeout 1m0s (pid 90)"}},
		{"two of them", line("timeout: timeout 100 make", "timeout: timeout 20 sh x"), 0,
			patience{limit: 5 * time.Second, why: "a quarter of what is left of timeout 20s (pid 89)"}},
		{"longer than the queue's", line("timeout: timeout 1h make"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"timeout 0", line("timeout: timeout 0 make"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"timeout that went away", line("timeout: gone"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"agent", line("bash: bash -c x", "node: claude"), 0,
			patience{limit: agentPatience, why: "a coding agent waits for it (pid 89)", agent: true}},
		{"timeout under an agent", line("timeout: timeout 60 make", "claude: claude"), 0,
			patience{limit: 15 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 90)", agent: true}},
		{"agent that went away", line("claude: gone"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"heavy, but no agent", line("npm: npm test"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"busybox", line("sh: sh").beside(100, "npm test", 102, "timeout 60 npm test"), 0,
			patience{limit: 15 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 102)"}},
		{"busybox by its name, and an interpreter", line("sh: sh").beside(100, "node /usr/bin/npm test", 103, "/bin/busybox timeout -s KILL 60 npm test"), 20 * time.Second,
			patience{limit: 10 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 103)"}},
		{"busybox around a shell", line("sh: sh -c x").beside(90, "sh -c x", 92, "timeout 60 sh -c x"), 0,
			patience{limit: 15 * time.Second, why: "a quarter of what is left of timeout 1m0s (pid 92)"}},
		{"a neighbour's timeout", line("sh: sh").beside(100, "npm test", 102, "timeout 60 make"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"a neighbour's timeout of nothing", line("sh: sh").beside(100, "npm test", 102, "timeout 60"), 0, patience{limit: queue, why: "queue_timeout_s"}},
		{"gone", &fakeLine{err: errors.New("gone")}, 0, patience{limit: queue, why: "queue_timeout_s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := 1000 + uint64(tt.age/(time.Second/clockTicks))
			if got := patienceOf(100, queue, tt.above, fakeRules{}, now); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
