package contain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// ofUser is what a governor without root may do: it asks the user's own service
// manager, which in turn asks pid 1 for what sits outside its tree (the
// processes of a login session do).
type ofUser struct {
	uid     uint32
	manager string // "user-UID"
	linger  string // file that is there if the manager outlives the last session
}

// userSlice is where a user's jobs go: beside his other programs, below the
// limits of user@UID.service.
const userSlice = "app.slice"

// lingerDir has a file of each user whose manager runs without a session.
const lingerDir = "/var/lib/systemd/linger"

// userOf is nil for root, who asks pid 1.
func userOf(uid int) *ofUser {
	if uid == 0 {
		return nil
	}
	u := &ofUser{uid: uint32(uid), manager: "user-" + strconv.Itoa(uid)}
	if who, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		u.linger = filepath.Join(lingerDir, filepath.Base(who.Username))
	}
	return u
}

// lingers is asked each time: it is changed by one command.
func (u *ofUser) lingers() bool {
	_, err := os.Stat(u.linger)
	return u.linger != "" && err == nil
}

// home is the manager that everything goes through: pid 1, or the user's own.
func (s *Systemd) home() string {
	if s.user != nil {
		return s.user.manager
	}
	return SystemManager
}

// mayMove says why a user may not move what root could; "" if he may.
func (u *ofUser) mayMove(o Origin, x proc.Exec, files proc.FS) (string, error) {
	owner := proc.Exec{ID: x.ID}
	if err := files.ReadFacts(&owner); err != nil {
		return "", err
	}
	switch {
	case owner.UID != u.uid || owner.EUID != u.uid:
		return fmt.Sprintf("it belongs to uid %d, and this governor guards uid %d alone", owner.UID, u.uid), nil
	case o.Manager == u.manager:
		return "", nil
	case o.Kind != "session" || o.Slice != "user-"+strconv.Itoa(int(u.uid))+".slice":
		return fmt.Sprintf("it sits in %s, which is the system's: only root may move it out", o.Unit), nil
	}
	if u.lingers() {
		return "", nil
	}
	// A session with a process left in it keeps the user's manager alive; one
	// that was moved away from lets it end, and all of its jobs.
	const why = ", and is to outlive its session; a job of the user's manager would not: loginctl enable-linger makes it do so"
	if sig, err := files.Signals(x.ID.PID); err == nil && sig.HangupIgnored() {
		return "it ignores the end of its terminal (nohup)" + why, nil
	}
	if st, err := files.Stat(x.ID.PID); err == nil && st.TTY == 0 && u.orphan(st, files) {
		return "it was started in the background without a terminal (setsid)" + why, nil
	}
	return "", nil
}

// orphan reports whether who started the process is gone: then it belongs to
// init, or to the user's own manager.
func (u *ofUser) orphan(st proc.Stat, files proc.FS) bool {
	if st.PPID <= 1 {
		return true
	}
	at, err := files.Cgroup(st.PPID)
	return err == nil && u.owns(at) && strings.HasSuffix(at, "/init.scope")
}

// placed is where a job of the user's goes. Units of two managers can not be
// tied to each other, so nothing of a session's stays in PartOf: a job ends with
// its terminal, as its processes do anywhere.
func (u *ofUser) placed(o Origin) Origin {
	if o.Manager != u.manager {
		o.Manager, o.Slice, o.PartOf = u.manager, userSlice, ""
	}
	return o
}

// owns reports whether a cgroup is below the user's own manager.
func (u *ofUser) owns(cgroup string) bool {
	unit := "user@" + strconv.Itoa(int(u.uid)) + ".service"
	return slices.Contains(strings.Split(cgroup, "/"), unit)
}

// moveAs writes cgroup.procs, or has the manager of the scope do so: the kernel
// wants the right to write where both places have their root, which for a
// session and a user's own tree is root's alone.
func (s *Systemd) moveAs(cgroup string, pid int) error {
	err := s.cg.attach(cgroup, pid)
	if s.user == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err = s.manager(s.user.manager).call(ctx, false, func(b Bus) error {
		a, ok := b.(attacher)
		if !ok {
			return errors.ErrUnsupported
		}
		return a.attach(ctx, filepath.Base(cgroup), pid)
	})
	if busErrorName(err) == "org.freedesktop.DBus.Error.UnixProcessIdUnknown" {
		return unix.ESRCH
	}
	return err
}

// attacher is a Bus that can move a process into a running unit (systemd ≥ 238).
type attacher interface {
	attach(ctx context.Context, unit string, pid int) error
}

func (b *systemdBus) attach(ctx context.Context, unit string, pid int) error {
	return brokenOr(ctx, b.conn.AttachProcessesToUnit(ctx, unit, "", []uint32{uint32(pid)}))
}
