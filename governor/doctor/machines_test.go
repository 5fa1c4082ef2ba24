package doctor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func unsupported(text string) error { return fmt.Errorf("%s: %w", text, errors.ErrUnsupported) }

var (
	seesAll  = []Attempt{{"bpf", nil}, {"perf", nil}, {"poll", nil}}
	seesPoll = []Attempt{{"bpf", unsupported("needs root, or CAP_BPF and CAP_PERFMON")}, {"perf", unsupported("needs root")}, {"poll", nil}}
	limits1G = &Limits{ReserveMB: 226, MinStartMB: 135, CriticalMB: 90}
)

// TestMachines holds the answers for whole machines: those named must be as
// they stand here, and all others ok or not applicable.
func TestMachines(t *testing.T) {
	tests := []struct {
		name    string
		machine machine
		options Options
		states  map[string]State
		says    map[string]string // a part of the check's words, each
	}{
		{
			name: "Ubuntu 24.04", machine: ubuntu, options: Options{Sources: seesAll, Limits: &Limits{295, 196, 98}},
		},
		{
			name: "stock Raspberry Pi OS 12", machine: raspberry, options: Options{Sources: seesAll, Limits: limits1G, Systemd: "252.39"},
			states: map[string]State{"memory-controller": Fail, "psi": Fail, "swap": Warn},
			says: map[string]string{
				"environment":       "Raspberry Pi 4",
				"memory-controller": "add cgroup_enable=memory at the end of the one line of /boot/firmware/cmdline.txt",
				"psi":               "add psi=1 at the end of the one line of /boot/firmware/cmdline.txt",
				"swap":              "on an SD card",
			},
		},
		{
			name: "Debian 11", machine: debian11, options: Options{Sources: seesAll, Systemd: "247.3"},
			states: map[string]State{"kernel": Warn, "systemd": Warn},
			says:   map[string]string{"kernel": "cgroup.kill (5.14)", "systemd": "StopPropagatedFrom= (249)"},
		},
		{
			name: "Alpine", machine: alpine, options: Options{Sources: seesAll},
			states: map[string]State{"cgroup-version": Fail, "memory-controller": Fail, "psi": Fail, "systemd": Warn, "swap": Warn},
			says: map[string]string{
				"cgroup-version": `rc_cgroup_mode="unified" in /etc/rc.conf`,
				"psi":            "add psi=1 to /etc/update-extlinux.conf, in its default_kernel_opts=",
				"swap":           "zram",
				"service":        "no systemd here",
			},
		},
		{
			name: "WSL2", machine: wsl2, options: Options{Sources: seesAll},
			states: map[string]State{"environment": Warn, "kernel": Warn, "psi": Fail},
			says:   map[string]string{"environment": "Windows Subsystem for Linux 2", "psi": ".wslconfig, under [wsl2]: kernelCommandLine = psi=1"},
		},
		{
			name: "a container of docker", machine: docker,
			options: Options{Sources: []Attempt{{"bpf", unsupported("the kernel refuses BPF")}, {"perf", unsupported("refused")}, {"poll", nil}}},
			states: map[string]State{"environment": Warn, "cgroup-version": Fail, "memory-controller": Fail, "psi": Fail, "exec-source": Warn, "ptrace": Fail,
				"systemd": Warn},
			says: map[string]string{
				"environment":       "inside a container (docker)",
				"memory-controller": "the host of this container",
				"exec-source":       "--pid=host",
				"ptrace":            "--cap-add=SYS_PTRACE",
				"psi":               "this is for the host of this container",
			},
		},
		{
			name: "a container of LXC", machine: lxc, options: Options{Sources: seesAll},
			states: map[string]State{"environment": Warn},
			says:   map[string]string{"environment": "inside a container (lxc)"},
		},
		{
			name: "a hybrid hierarchy", machine: hybrid, options: Options{Sources: seesAll, Systemd: "241"},
			states: map[string]State{"kernel": Fail, "cgroup-version": Fail, "memory-controller": Fail, "psi": Fail, "systemd": Warn},
			says: map[string]string{
				"cgroup-version":    "add systemd.unified_cgroup_hierarchy=1 to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub",
				"memory-controller": "version 1 has it",
				"psi":               "4.20",
			},
		},
		{
			name: "a user without root", machine: user, options: Options{UID: 1000, User: "pi", Sources: seesPoll},
			states: map[string]State{"exec-source": Warn, "lingering": Warn},
			says: map[string]string{
				"exec-source": "BPF and perf are root's",
				"ptrace":      "as this user a command runs free",
				"lingering":   "loginctl enable-linger pi",
				"delegation":  "has memory and pids",
			},
		},
		{
			name: "a user beside the machine's governor", machine: user,
			options: Options{UID: 1000, User: "pi", Sources: seesPoll,
				Governor: Governor{Asked: true, Machine: true, Mode: "enforce", Source: "bpf", Contain: "systemd"}},
			says: map[string]string{"exec-source": "the machine's governor sees by bpf", "governor": "guards the whole machine"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Root = tt.machine.at(t)
			tt.options.Settings.Path, tt.options.Rules.Path = "/etc/headroom/headroom.toml", "/etc/headroom/rules.d"
			if !tt.options.Governor.Asked {
				tt.options.Governor = Governor{Asked: true, Machine: tt.options.UID == 0, Mode: "enforce", Source: "bpf", Contain: "systemd"}
			}
			for _, c := range Examine(tt.options) {
				want, named := tt.states[c.Name]
				if !named && c.State != OK && c.State != NotApplicable || named && c.State != want {
					t.Errorf("%s is %s, want %q: %s", c.Name, c.State, want, words(c))
				}
				if part := tt.says[c.Name]; !strings.Contains(words(c), part) {
					t.Errorf("%s does not say %q: %s", c.Name, part, words(c))
				}
			}
		})
	}
}

// words are all that a check says.
func words(c Check) string {
	return strings.Join(append([]string{c.Found, c.Means, c.Remedy}, c.Commands...), " | ")
}

// TestWords holds what every answer must have.
func TestWords(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for i, m := range []machine{ubuntu, raspberry, debian11, alpine, wsl2, docker, lxc, hybrid, user, {"/etc/": ""}} {
		root := m.at(t)
		for _, uid := range []int{0, 1000} {
			var seen []string
			for _, c := range Examine(Options{Root: root, UID: uid}) {
				if slices.Contains(seen, c.Name) || !name.MatchString(c.Name) {
					t.Errorf("machine %d: name %q", i, c.Name)
				}
				seen = append(seen, c.Name)
				if c.Found == "" || strings.Contains(words(c), "\n") {
					t.Errorf("machine %d: %s says %q", i, c.Name, words(c))
				}
				if bad := c.State == Warn || c.State == Fail; bad && (c.Means == "" || c.Remedy == "") {
					t.Errorf("machine %d: %s is %s without what follows or what to do: %q", i, c.Name, c.State, words(c))
				}
			}
		}
	}
}

// TestNothingKnown is a machine of which no file can be read: what is not
// known is not said to be missing.
func TestNothingKnown(t *testing.T) {
	for _, c := range Examine(Options{Root: machine{"/etc/": ""}.at(t)}) {
		switch c.Name {
		case "environment", "systemd", "service", "delegation", "lingering", "other-guards", "swap-accounting":
			continue // what is not there is an answer to these
		}
		if c.State == Fail || c.State == OK {
			t.Errorf("%s is %s: %s", c.Name, c.State, words(c))
		}
	}
}
