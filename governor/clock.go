package governor

import "golang.org/x/sys/unix"

// clockTicks is USER_HZ, the unit of start times in /proc. It is 100 on every
// architecture that Linux runs Go on.
const clockTicks = 100

// TicksNow is the time since boot in the unit of process start times, or 0
// where the clock cannot be read: everything has started since.
func TicksNow() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return uint64(ts.Sec)*clockTicks + uint64(ts.Nsec)/(1e9/clockTicks)
}
