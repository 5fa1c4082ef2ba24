package loader

import (
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
	"golang.org/x/sys/unix"
)

// BenchmarkExecToRead is from the kernel's time of an exec to its Exec in hand,
// with a thread that waits as the daemon's does.
func BenchmarkExecToRead(b *testing.B) {
	for _, want := range []string{"bpf", "perf"} {
		b.Run(want, func(b *testing.B) {
			program, err := exec.LookPath(trialProgram)
			if err != nil {
				b.Skip(err)
			}
			s := opened(b, Options{Want: want, Names: map[string]uint32{trialProgram: 1}})
			var took []time.Duration
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for {
					select {
					case <-stop:
						return
					default:
					}
					fds := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
					unix.Poll(fds, 10)
					s.Read(func(x *proc.Exec) { took = append(took, time.Since(x.Seen)) })
				}
			}()
			for b.Loop() {
				if err := exec.Command(program).Run(); err != nil {
					b.Fatal(err)
				}
			}
			close(stop)
			<-stopped
			if len(took) == 0 {
				b.Fatal("none was reported")
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
}

// BenchmarkPollIdle is the share of a core that polling takes of a machine as
// it is. One run of it is 20 ticks.
func BenchmarkPollIdle(b *testing.B) {
	s := opened(b, Options{Want: "poll", Names: map[string]uint32{"hr-none": 1}})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	begin := time.Now()
	unix.Getrusage(unix.RUSAGE_THREAD, &before)
	for b.Loop() {
		for range 20 {
			fds := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
			unix.Poll(fds, 100)
			if err := s.Read(func(*proc.Exec) {}); err != nil {
				b.Fatal(err)
			}
		}
	}
	unix.Getrusage(unix.RUSAGE_THREAD, &after)
	used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	b.ReportMetric(100*float64(used)/float64(time.Since(begin)), "%core")
	b.ReportMetric(float64(s.Counters().Seen)/time.Since(begin).Seconds(), "new/s")
}
