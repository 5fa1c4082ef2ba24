//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"os/exec"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// BenchmarkBPF is what the program costs an exec, by the kernel's own count of
// its run time: of a light name, of one that is reported, and with all cgroup
// places in use.
func BenchmarkBPF(b *testing.B) {
	program, err := exec.LookPath(trialProgram)
	if err != nil {
		b.Skip(err)
	}
	for _, bc := range []struct {
		name    string
		names   map[string]uint32
		cgroups int
	}{
		{"light", map[string]uint32{"hr-none": 1}, 0},
		{"reported", map[string]uint32{trialProgram: 1}, 0},
		{"reported-4-cgroups", map[string]uint32{trialProgram: 1}, 4},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := openedBPF(b, Options{Names: bc.names, RingBytes: 1 << 20})
			for i := range bc.cgroups {
				if err := s.configure(func(c *execSettings) { c.Cgroups = uint32(i + 1) }); err != nil {
					b.Fatal(err)
				}
			}
			stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
			if err != nil {
				b.Skipf("the kernel keeps no run times (Linux 5.8 does): %v", err)
			}
			defer stats.Close()
			for b.Loop() {
				if err := exec.Command(program).Run(); err != nil {
					b.Fatal(err)
				}
			}
			got, err := s.program.Stats()
			if err != nil || got.RunCount == 0 {
				b.Fatalf("%+v, %v", got, err)
			}
			b.ReportMetric(float64(got.Runtime.Nanoseconds())/float64(got.RunCount), "ns/exec")
		})
	}
}
