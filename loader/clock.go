package loader

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock turns the kernel's monotonic nanoseconds into times that can be shown
// and subtracted. One is made for each Read.
type clock struct {
	now   time.Time
	ktime uint64 // of the same moment
}

func readClock() clock {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return clock{now: time.Now()}
	}
	return clock{time.Now(), uint64(ts.Nano())}
}

// at is the moment ktime. One in the future, or where there is no clock, is now.
func (c clock) at(ktime uint64) time.Time {
	if ktime == 0 || ktime >= c.ktime {
		return c.now
	}
	return c.now.Add(-time.Duration(c.ktime - ktime))
}
