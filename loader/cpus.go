package loader

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxCPUs is more than any kernel is built for.
const maxCPUs = 8192

// onlineCPUs reads the list of CPUs that are online.
func onlineCPUs(path string) ([]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("find the CPUs: %w", err)
	}
	cpus, err := parseCPUs(string(text))
	if err != nil {
		return nil, fmt.Errorf("find the CPUs in %s: %w", path, err)
	}
	return cpus, nil
}

// parseCPUs reads "0-3,5,7".
func parseCPUs(text string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, is := strings.Cut(part, "-")
		if !is {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("not a list of CPUs: %q", text)
		}
		to, err := strconv.ParseUint(last, 10, 16)
		if err != nil || to < from || to >= maxCPUs {
			return nil, fmt.Errorf("not a list of CPUs: %q", text)
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}
