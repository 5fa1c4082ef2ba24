package contain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"golang.org/x/sys/unix"
)

// OwnUnit is the unit that the governor runs in, as its manager sees it.
type OwnUnit struct {
	name string
	bus  ownBus
	now  func() time.Duration // CLOCK_MONOTONIC
}

// ownBus is what of a manager is needed for the governor's own unit.
type ownBus interface {
	Get(ctx context.Context, unit, iface string, names ...string) (map[string]any, error)
	Jobs(ctx context.Context) ([]Job, error)
	startWith(ctx context.Context, unit string, props []sd.Property, aux []sd.PropertyCollection) error
	io.Closer
}

// OpenOwnUnit connects to the manager of a unit: pid 1 for uid 0, else that
// user's own.
func OpenOwnUnit(ctx context.Context, name string, uid int) (*OwnUnit, error) {
	manager := SystemManager
	if uid != 0 {
		manager = "user-" + strconv.Itoa(uid)
	}
	b, err := dialManager(ctx, manager, 0)
	if err != nil {
		return nil, err
	}
	return &OwnUnit{name: name, bus: b.(*systemdBus), now: monotonic}, nil
}

// Close ends the connection.
func (u *OwnUnit) Close() error { return u.bus.Close() }

// Ending is how a unit came down, and what its manager means to do next.
type Ending struct {
	Result  string        // $SERVICE_RESULT: "success", "signal", "watchdog", …
	Job     string        // "restart", "stop", …; "" where nobody ordered anything
	Restart string        // the unit's Restart= setting
	Up      time.Duration // how long it was up; -1 if it never came up
}

// Ending asks for it, while the unit is coming down.
func (u *OwnUnit) Ending(ctx context.Context, result string) (Ending, error) {
	e := Ending{Result: result, Up: -1}
	jobs, err := u.bus.Jobs(ctx)
	if err != nil {
		return e, fmt.Errorf("ask for the jobs of systemd: %w", err)
	}
	for _, j := range jobs {
		if j.Unit == u.name {
			e.Job = j.Type
		}
	}
	service, err := u.bus.Get(ctx, u.name, "Service", "Restart")
	if err != nil {
		return e, fmt.Errorf("ask for %s: %w", u.name, err)
	}
	e.Restart, _ = service["Restart"].(string)
	unit, err := u.bus.Get(ctx, u.name, "Unit", "ActiveEnterTimestampMonotonic", "InactiveExitTimestampMonotonic")
	if err != nil {
		return e, fmt.Errorf("ask for %s: %w", u.name, err)
	}
	begun, _ := unit["InactiveExitTimestampMonotonic"].(uint64)
	up, _ := unit["ActiveEnterTimestampMonotonic"].(uint64)
	if up > 0 && up >= begun { // else it was up in an earlier life
		e.Up = u.now() - time.Duration(up)*time.Microsecond
	}
	return e, nil
}

// steady is how long a governor has been up whose end says nothing about the
// next one. One that ends sooner may well do so again, and what it holds may be
// the reason.
const steady = time.Minute

// Successor reports whether another governor will be started now and is worth
// waiting for, and why. In doubt it is not.
//
// An ordered restart shows as a job of the unit until it is down. A crash has
// no job; then the manager starts it again as its Restart= says. A governor
// that hung has kept everybody waiting long enough.
func (e Ending) Successor() (coming bool, why string) {
	switch e.Job {
	case "restart", "try-restart", "start":
		return true, "it is being restarted"
	case "":
	default:
		return false, "systemd has a " + strconv.Quote(e.Job) + " job for it"
	}
	switch {
	case e.Result == "watchdog":
		return false, "it hung"
	case e.Restart != "always" && (e.Restart != "on-failure" || e.Result == "success" || e.Result == ""):
		return false, "it is not started again (Restart=" + e.Restart + ")"
	case e.Up < 0:
		return false, "it did not come up"
	case e.Up < steady:
		return false, fmt.Sprintf("it ended after %d s and may do so again", int(e.Up.Seconds()))
	}
	return true, "it ended by itself and is started again"
}

// Later has the manager run a command once, after a time, from a transient
// timer that is no part of this unit. It returns the timer's name.
func (u *OwnUnit) Later(ctx context.Context, after time.Duration, argv []string) (timer string, err error) {
	var b [4]byte
	rand.Read(b[:])
	// A name of its own each time: an earlier timer may fire before its time is
	// right for this one.
	name := "headroom-release-" + hex.EncodeToString(b[:])
	type entry struct {
		Base  string
		Value uint64
	}
	type command struct {
		Path   string
		Argv   []string
		Ignore bool
	}
	err = u.bus.startWith(ctx, name+".timer", []sd.Property{
		sd.PropDescription("Let held commands go if the governor does not come back"),
		property("TimersMonotonic", []entry{{"OnActiveSec", uint64(after / time.Microsecond)}}),
		property("AccuracyUSec", uint64(time.Second/time.Microsecond)),
		property("RemainAfterElapse", false),
		property("CollectMode", "inactive-or-failed"),
	}, []sd.PropertyCollection{{Name: name + ".service", Properties: []sd.Property{
		sd.PropDescription("Let held commands go"),
		property("Type", "oneshot"),
		property("ExecStart", []command{{argv[0], argv, false}}),
		property("CollectMode", "inactive-or-failed"),
	}}})
	if err != nil {
		return "", fmt.Errorf("start %s.timer: %w", name, err)
	}
	return name + ".timer", nil
}

// monotonic is CLOCK_MONOTONIC, by which systemd's timestamps count.
func monotonic() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
