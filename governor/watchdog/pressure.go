package watchdog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ReadPressure reads one pressure file, such as the memory.pressure of a cgroup
// (Linux ≥ 4.20): nil where the kernel has no PSI, or the cgroup is gone.
func ReadPressure(path string) (*Pressure, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENODEV) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pressure: %w", err)
	}
	p, err := parsePressure(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// parsePressure: "some avg10=1.50 avg60=0.21 avg300=0.99 total=8537362", then
// the same of full.
func parsePressure(text string) (*Pressure, error) {
	var p Pressure
	seen := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		of := &p.Some
		switch words[0] {
		case "some":
		case "full":
			of = &p.Full
		default:
			continue
		}
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			var err error
			switch key {
			case "avg10":
				of.Avg10, err = strconv.ParseFloat(value, 64)
			case "total":
				of.Total, err = strconv.ParseUint(value, 10, 64)
			}
			if err != nil {
				return nil, fmt.Errorf("no pressure in %.80q", line)
			}
		}
		seen++
	}
	if seen < 2 {
		return nil, fmt.Errorf("no pressure in %.80q", text)
	}
	return &p, nil
}
