//go:build faultpoints

package fault

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled says whether this build has fault points.
const Enabled = true

// order is what to do at one point.
type order struct {
	point string
	act   string // "self-kill", "tracee-kill", "sleep"
	sleep time.Duration
}

var read = sync.OnceValues(func() ([]order, string) {
	orders, err := parse(os.Getenv("HEADROOMD_FAULT"))
	if err != nil {
		// A test that asks for a fault and silently gets none proves nothing.
		panic(err)
	}
	return orders, os.Getenv("HEADROOMD_FAULT_COMM")
})

// At marks the step name of what is being done to process pid.
func At(name string, pid int) {
	orders, comm := read()
	for _, o := range orders {
		if o.point != name || comm != "" && !hasComm(pid, comm) {
			continue
		}
		switch o.act {
		case "self-kill":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment; nothing after this point may run
		case "tracee-kill":
			if pid > 1 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		case "sleep":
			time.Sleep(o.sleep)
		}
	}
}

func hasComm(pid int, comm string) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err == nil && string(bytes.TrimSuffix(data, []byte("\n"))) == comm
}

func parse(text string) ([]order, error) {
	var orders []order
	if text == "" {
		return nil, nil
	}
	for _, one := range strings.Split(text, ",") {
		point, act, ok := strings.Cut(one, ":")
		if !ok || point == "" {
			return nil, fmt.Errorf("HEADROOMD_FAULT: %q is not NAME:WHAT", one)
		}
		o := order{point: point, act: act}
		if ms, ok := strings.CutPrefix(act, "sleep="); ok {
			n, err := strconv.Atoi(ms)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("HEADROOMD_FAULT: %q is not a number of milliseconds", ms)
			}
			o.act, o.sleep = "sleep", time.Duration(n)*time.Millisecond
		} else if act != "self-kill" && act != "tracee-kill" {
			return nil, fmt.Errorf("HEADROOMD_FAULT: %q is none of self-kill, tracee-kill, sleep=MS", act)
		}
		orders = append(orders, o)
	}
	return orders, nil
}
