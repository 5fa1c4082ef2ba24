package proc

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// fsIDs are the user and the group that a process touches files as.
type fsIDs struct{ uid, gid uint32 }

// parseFSIDs reads the fourth numbers of status' lines Uid and Gid.
func parseFSIDs(status []byte) (fsIDs, error) {
	fourth := func(name string) (uint32, error) {
		rest, ok := line(status, name)
		if !ok {
			return 0, fmt.Errorf("no %s in status", name)
		}
		var f []byte
		for range 4 {
			f, rest = field(rest)
		}
		n, ok := number(f)
		if !ok || n >= math.MaxUint32 {
			return 0, fmt.Errorf("not a number under %s in status: %q", name, clip(f))
		}
		return uint32(n), nil
	}
	uid, errUID := fourth("Uid")
	gid, errGID := fourth("Gid")
	return fsIDs{uid, gid}, errors.Join(errUID, errGID)
}

// as calls do on a thread that touches files as who, and as a member of no
// other group. Only root can be another.
func as(who fsIDs, do func() error) error {
	if int(who.uid) == os.Geteuid() && int(who.gid) == os.Getegid() {
		return do()
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("read as user %d: %w", who.uid, unix.EPERM)
	}
	// The kernel keeps these three for each thread. One that cannot be set back
	// stays locked, and so ends with its goroutine.
	runtime.LockOSThread()
	groups, err := unix.Getgroups()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("ask for the groups: %w", err)
	}
	err = become(who, nil)
	if err == nil {
		err = do()
	}
	if back := become(fsIDs{0, uint32(os.Getegid())}, groups); back != nil {
		return errors.Join(err, back)
	}
	runtime.UnlockOSThread()
	return err
}

// become sets the thread's ids. setfsuid reports no failure, so they are asked
// for; -1 is nobody's id and changes nothing.
func become(who fsIDs, groups []int) error {
	if err := unix.Setgroups(groups); err != nil {
		return fmt.Errorf("set the groups: %w", err)
	}
	unix.SetfsgidRetGid(int(who.gid))
	unix.SetfsuidRetUid(int(who.uid))
	uid, _ := unix.SetfsuidRetUid(-1)
	gid, _ := unix.SetfsgidRetGid(-1)
	if uint32(uid) != who.uid || uint32(gid) != who.gid {
		return fmt.Errorf("read as user %d: %w", who.uid, unix.EPERM)
	}
	return nil
}
