package doctor

import (
	"fmt"
	"os"
	"strings"
)

// limits of kernels: what each version brought that is used here.
var kernelLimits = []struct {
	major, minor int
	lacks        string
}{
	{5, 6, "pidfd_getfd (5.6): nobody can be told in their terminal why they wait"},
	{5, 8, "the BPF ring buffer (5.8): execs are seen in a dearer way"},
	{5, 14, "cgroup.kill (5.14): a job is stopped by freezing it and killing each of its processes"},
	{5, 15, "process_mrelease (5.15): the memory of a killed process comes back a little later"},
	{5, 19, "memory.peak (5.19): peaks are sampled, a short one may be missed"},
}

func (f *facts) kernelCheck() Check {
	const name = "kernel"
	if !f.kernel.known() {
		_, err := f.read("/proc/sys/kernel/osrelease")
		return unknown(name, "the kernel's version", err)
	}
	var lacks []string
	for _, l := range kernelLimits {
		if f.kernel.before(l.major, l.minor) {
			lacks = append(lacks, l.lacks)
		}
	}
	found := "Linux " + f.kernel.String()
	if len(lacks) == 0 {
		return ok(name, found+", which has all that is used")
	}
	c := Check{Name: name, State: Warn, Found: found, Means: "it lacks " + strings.Join(lacks, "; ")}
	if f.kernel.before(5, 2) {
		c.State = Fail
		c.Means = "it is older than the freezer of cgroup v2 (5.2): a command cannot be held while it waits; " + c.Means
	}
	c.Remedy = "nothing has to be done; a newer kernel (5.19) has all of it"
	if host := f.place.host(); host != "" {
		c.Remedy += ", which is for " + host + " to install"
	}
	return c
}

// pageCheck is a note: sizes are in bytes everywhere, but a 16 KB page makes
// small programs larger.
func (f *facts) pageCheck() Check {
	const name = "page-size"
	size := os.Getpagesize()
	if f.o.Root != "/" {
		text, err := f.read("/proc/self/smaps")
		if err != nil {
			return unknown(name, "the page size", nil)
		}
		for line := range strings.Lines(text) {
			if value, ok := strings.CutPrefix(line, "KernelPageSize:"); ok {
				if n, _ := fmt.Sscanf(value, "%d", &size); n == 1 {
					size <<= 10
					break
				}
			}
		}
	}
	c := ok(name, fmt.Sprintf("%d KB", size>>10))
	if size > 4096 {
		c.Found += "; each process takes some more memory than with 4 KB, and caps count whole pages"
	}
	return c
}
