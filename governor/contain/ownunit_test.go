package contain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

const governor = "headroomd.service"

// startWith makes a manager's fake one that can be asked for a timer.
func (b *fakeBus) startWith(_ context.Context, unit string, list []sd.Property, aux []sd.PropertyCollection) error {
	p := asProps(unit, "fail", list)
	for _, a := range aux {
		p["aux "+a.Name] = asProps(a.Name, "", a.Properties)
	}
	b.started = append(b.started, p)
	return b.after
}

func ownUnit(t *testing.T) (*OwnUnit, *fakeBus) {
	b := newFakeMachine(t).buses[SystemManager]
	b.props[governor+"/Service"] = map[string]any{"Restart": "always"}
	b.props[governor+"/Unit"] = map[string]any{"InactiveExitTimestampMonotonic": uint64(1e6), "ActiveEnterTimestampMonotonic": uint64(2e6)}
	return &OwnUnit{name: governor, bus: b, now: func() time.Duration { return 100 * time.Second }}, b
}

func TestEnding(t *testing.T) {
	u, b := ownUnit(t)
	b.queue = []Job{{"other.service", "stop"}, {governor, "restart"}}
	got, err := u.Ending(t.Context(), "signal")
	if want := (Ending{Result: "signal", Job: "restart", Restart: "always", Up: 98 * time.Second}); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	// It was up, but in an earlier life.
	b.props[governor+"/Unit"]["InactiveExitTimestampMonotonic"] = uint64(3e6)
	if got, err = u.Ending(t.Context(), ""); got.Up != -1 || err != nil {
		t.Errorf("one that did not come up: %+v, %v", got, err)
	}
	for _, part := range []string{"/Unit", "/Service"} {
		delete(b.props, governor+part)
		if _, err = u.Ending(t.Context(), ""); err == nil || !strings.Contains(err.Error(), governor) {
			t.Errorf("without %s: %v", part, err)
		}
	}
	b.broken = 1
	if _, err = u.Ending(t.Context(), ""); err == nil {
		t.Error("no error of a broken connection")
	}
}

func TestSuccessor(t *testing.T) {
	const long = time.Hour
	for _, c := range []struct {
		name string
		end  Ending
		want bool
	}{
		{"systemctl restart", Ending{"success", "restart", "always", long}, true},
		{"systemctl restart at once", Ending{"success", "restart", "no", time.Second}, true},
		{"systemctl try-restart", Ending{"success", "try-restart", "always", long}, true},
		{"systemctl stop", Ending{"success", "stop", "always", long}, false},
		{"stopped while it crashes", Ending{"signal", "stop", "always", long}, false},
		{"an unknown job", Ending{"success", "verify-active", "always", long}, false},
		{"crash", Ending{"signal", "", "always", long}, true},
		{"out of memory", Ending{"oom-kill", "", "on-failure", long}, true},
		{"somebody's SIGTERM", Ending{"success", "", "always", long}, true},
		{"somebody's SIGTERM, restarted on failure", Ending{"success", "", "on-failure", long}, false},
		{"no word of the result", Ending{"", "", "on-failure", long}, false},
		{"never restarted", Ending{"signal", "", "no", long}, false},
		{"a setting that is not known", Ending{"signal", "", "", long}, false},
		{"hung", Ending{"watchdog", "", "always", long}, false},
		{"hung and restarted by hand", Ending{"watchdog", "restart", "always", long}, true},
		{"crash in a loop", Ending{"exit-code", "", "always", 3 * time.Second}, false},
		{"settings that cannot be read", Ending{"exit-code", "", "always", -1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := c.end.Successor()
			if got != c.want || why == "" {
				t.Errorf("got %v (%s), want %v", got, why, c.want)
			}
		})
	}
}

func TestLater(t *testing.T) {
	u, b := ownUnit(t)
	timer, err := u.Later(t.Context(), 15*time.Second, []string{"/usr/bin/headroomd", "release", "--unless-running"})
	if err != nil || !strings.HasPrefix(timer, "headroom-release-") || !strings.HasSuffix(timer, ".timer") {
		t.Fatalf("Later = %q, %v", timer, err)
	}
	got := b.started[0]
	if got["unit"] != timer || got["mode"] != "fail" || fmt.Sprint(got["TimersMonotonic"]) != "[{OnActiveSec 15000000}]" || got["RemainAfterElapse"] != false {
		t.Errorf("timer %v", got)
	}
	service, _ := got["aux "+strings.TrimSuffix(timer, ".timer")+".service"].(props)
	if fmt.Sprint(service["ExecStart"]) != "[{/usr/bin/headroomd [/usr/bin/headroomd release --unless-running] false}]" || service["Type"] != "oneshot" {
		t.Errorf("service %v", service)
	}
	again, _ := u.Later(t.Context(), time.Second, []string{"/x"})
	if again == timer {
		t.Error("two timers of one name")
	}
	b.after = errSome
	if _, err := u.Later(t.Context(), time.Second, []string{"/x"}); err == nil {
		t.Error("a timer that was refused is no error")
	}
	if sig := dbus.SignatureOf(got["TimersMonotonic"]).String(); sig != "a(st)" {
		t.Errorf("TimersMonotonic is sent as %s", sig)
	}
	if sig := dbus.SignatureOf(service["ExecStart"]).String(); sig != "a(sasb)" {
		t.Errorf("ExecStart is sent as %s", sig)
	}
	if err := u.Close(); err != nil || !b.closed {
		t.Errorf("Close = %v", err)
	}
}
