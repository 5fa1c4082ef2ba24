package loader

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// release is a kernel's version, as far as it matters.
type release struct{ major, minor int }

func (r release) before(major, minor int) bool {
	return r.major < major || r.major == major && r.minor < minor
}

func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }

// kernelRelease is that of the running kernel; the zero release if it cannot
// be told, which is before every other.
func kernelRelease() release {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return release{}
	}
	return parseRelease(unix.ByteSliceToString(u.Release[:]))
}

// parseRelease reads the start of "6.12.34+rpt-rpi-v8".
func parseRelease(text string) (r release) {
	if n, _ := fmt.Sscanf(text, "%d.%d", &r.major, &r.minor); n != 2 || r.major < 0 || r.minor < 0 {
		return release{}
	}
	return r
}

// Capabilities that see execs, from <linux/capability.h>.
const (
	capSysAdmin = 21
	capPerfmon  = 38 // since Linux 5.8, out of CAP_SYS_ADMIN
	capBPF      = 39 // likewise
)

// capable says whether this process has a capability; CAP_SYS_ADMIN has those
// that were split off it. Where it cannot be told, it is taken to have it: the
// kernel's own answer is the one that counts.
func capable(capability uint) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return true
	}
	has := func(c uint) bool { return data[c/32].Effective&(1<<(c%32)) != 0 }
	return has(capability) || has(capSysAdmin)
}

// roundUp makes a power of two of pages that holds size bytes.
func roundUp(size, page int) int {
	n := page
	for n < size {
		n *= 2
	}
	return n
}

// denied says that the kernel refused for want of rights.
func denied(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
}
