package loader

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

func TestPerfCountsLoss(t *testing.T) {
	opened(t, Options{Want: "perf"}).Close()
	cpus, err := onlineCPUs("/sys/devices/system/cpu/online")
	if err != nil {
		t.Fatal(err)
	}
	before := descriptors(t)
	p := &perf{epoll: -1}
	if err := p.open(cpus, 0); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	// Rings of one page instead: some 100 records, not 400.
	for i, r := range p.rings {
		r.close()
		if p.rings[i], err = openPerfRing(r.cpu, os.Getpagesize()); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath(trialProgram)
	if err != nil {
		t.Skipf("needs a program to run often: %v", err)
	}
	// A record has 40 bytes or more, and any CPU may have most of them.
	runs := len(cpus) * os.Getpagesize() / 40 * 2
	burst := exec.Command("sh", "-c", `i=0; while [ $i -lt "$1" ]; do "$0"; i=$((i+1)); done`, program, strconv.Itoa(runs))
	if out, err := burst.CombinedOutput(); err != nil {
		t.Fatalf("run %s %d times: %v %s", program, runs, err, out)
	}
	if err := p.Read(func(*proc.Exec) {}); err != nil {
		t.Fatal(err)
	}
	// A loss is told with the next record.
	for range 4 * len(cpus) {
		if err := exec.Command(program).Run(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Read(func(*proc.Exec) {}); err != nil {
		t.Fatal(err)
	}
	if n := p.Counters(); n.Lost == 0 || n.Seen == 0 {
		t.Errorf("counters %+v: none was lost", n)
	}
	p.Close()
	if got := descriptors(t); got != before {
		t.Errorf("%d descriptors before, %d after", before, got)
	}
}

func TestExplainPerf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		err     error
		kernel  release
		capable bool
		want    string // its beginning; "" for a fault
	}{
		{"not built in", unix.ENOSYS, release{6, 1}, true, "the kernel is built without CONFIG_PERF_EVENTS"},
		{"no such event", unix.ENOENT, release{6, 1}, true, "the kernel is built without CONFIG_PERF_EVENTS"},
		{"old", unix.EINVAL, release{3, 16}, true, "needs Linux 4.1, this is 3.16"},
		{"no rights", unix.EACCES, release{6, 1}, false, "needs root or CAP_PERFMON (kernel.perf_event_paranoid is "},
		{"refused to root", unix.EPERM, release{6, 1}, true, "the kernel refuses perf"},
		{"no descriptors left", unix.EMFILE, release{6, 1}, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := explainPerf(tc.err, tc.kernel, tc.capable)
			if errors.Is(err, errors.ErrUnsupported) != (tc.want != "") || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %q, want %q", err, tc.want)
			}
		})
	}
}
