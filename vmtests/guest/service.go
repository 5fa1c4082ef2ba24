package guest

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// StartService runs argv as a transient system service until the end of the
// test, and returns its main process.
func StartService(t testing.TB, name string, properties []string, argv ...string) int {
	t.Helper()
	args := []string{"--quiet", "--collect", "--unit=" + name}
	for _, p := range properties {
		args = append(args, "--property="+p)
	}
	args = append(append(args, "--"), argv...)
	if out, err := exec.Command("systemd-run", args...).CombinedOutput(); err != nil {
		t.Fatalf("start service %s: %v: %s", name, err, out)
	}
	t.Cleanup(func() {
		exec.Command("systemctl", "stop", name).Run()
		exec.Command("systemctl", "reset-failed", name).Run()
	})
	var pid int
	Eventually(t, patience, func() string {
		pid, _ = strconv.Atoi(UnitProperty(t, name+".service", "MainPID"))
		if pid == 0 {
			return "service " + name + " has no main process"
		}
		return ""
	})
	return pid
}

// UnitProperty is one property of a unit, as systemctl show gives it.
func UnitProperty(t testing.TB, name, property string) string {
	t.Helper()
	out, err := exec.Command("systemctl", "show", "-P", property, name).Output()
	if err != nil {
		t.Fatalf("show %s of %s: %v", property, name, err)
	}
	return strings.TrimSpace(string(out))
}

func systemctl(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("systemctl", args...).CombinedOutput(); err != nil {
		t.Errorf("systemctl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
