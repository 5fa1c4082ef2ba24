package doctor

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// words are added to a running kernel's command line.
func (m machine) started(words string) machine {
	return m.but(machine{"/proc/cmdline": strings.TrimSpace(m["/proc/cmdline"]) + " " + words + "\n"})
}

func TestChecks(t *testing.T) {
	noMemory := ubuntu.but(machine{"/sys/fs/cgroup/cgroup.controllers": "cpu io pids\n"})
	noPSI := ubuntu.but(machine{"/proc/pressure/memory": "gone"})
	group := "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers"
	only := func(name string) []Attempt {
		return []Attempt{{"bpf", unsupported("needs Linux 5.8 for the ring buffer, this is 5.4")}, {name, nil}}
	}
	tests := []struct {
		name    string
		check   string
		machine machine
		options Options
		state   State
		says    string
	}{
		{"the firmware's word", "memory-controller", raspberry, Options{}, Fail, "the firmware itself starts the kernel with cgroup_disable=memory"},
		{"edited, not yet rebooted", "memory-controller", raspberry.but(machine{"/boot/firmware/cmdline.txt": piLine + " cgroup_enable=memory\n"}), Options{}, Fail, "reboot: /boot/firmware/cmdline.txt has cgroup_enable=memory already"},
		{"heeded by no kernel", "memory-controller", raspberry.started("cgroup_enable=memory").but(machine{"/boot/firmware/cmdline.txt": piLine + " cgroup_enable=memory\n"}), Options{}, Fail, "full-upgrade"},
		{"an older Pi OS", "memory-controller", raspberry.but(machine{"/boot/firmware/cmdline.txt": "gone", "/boot/cmdline.txt": piLine}), Options{}, Fail, "one line of /boot/cmdline.txt"},
		{"a Pi without its boot partition", "memory-controller", raspberry.but(machine{"/boot/firmware/cmdline.txt": "gone", "/boot/cmdline.txt": "gone"}), Options{}, Fail, "add cgroup_enable=memory at the end of the one line of /boot/firmware/cmdline.txt"},
		{"Ubuntu on a Pi", "psi", raspberry.but(machine{"/boot/firmware/cmdline.txt": "gone", "/boot/cmdline.txt": "gone", "/boot/firmware/current/cmdline.txt": piLine,
			"/boot/firmware/config.txt": "[all]\nos_prefix=current/\n[tryboot]\nos_prefix=new/\n"}), Options{}, Fail, "one line of /boot/firmware/current/cmdline.txt"},
		{"a config.txt that leads out", "psi", raspberry.but(machine{"/boot/firmware/config.txt": "cmdline=../../etc/passwd\n", "/etc/passwd": "root="}), Options{}, Fail, "one line of /boot/firmware/cmdline.txt"},
		{"a file that is odd", "memory-controller", raspberry.but(machine{"/boot/firmware/cmdline.txt": "a\nb\n"}), Options{}, Fail, "by hand"},
		{"a grub machine", "memory-controller", noMemory.started("cgroup_disable=memory").but(machine{"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"\"\nGRUB_CMDLINE_LINUX=\"cgroup_disable=memory\"\n"}), Options{}, Fail, "add cgroup_enable=memory to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, and take out cgroup_disable=memory"},
		{"a cloud's grub", "psi", noPSI.but(machine{"/etc/default/grub.d/50-cloudimg-settings.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n"}), Options{}, Fail, "in /etc/default/grub.d/50-cloudimg-settings.cfg"},
		{"a grub that adds to it", "psi", noPSI.but(machine{"/etc/default/grub.d/kdump.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT crashkernel=1G\"\n"}), Options{}, Fail, "in /etc/default/grub; then reboot"},
		{"Fedora's grub", "psi", noPSI.but(machine{"/usr/sbin/update-grub": "gone", "/boot/grub2/grub.cfg": ""}), Options{}, Fail, "grub2-mkconfig -o /boot/grub2/grub.cfg"},
		{"Arch's grub", "psi", noPSI.but(machine{"/usr/sbin/update-grub": "gone", "/boot/grub/grub.cfg": ""}), Options{}, Fail, "grub-mkconfig -o /boot/grub/grub.cfg"},
		{"Armbian", "psi", noPSI.but(machine{"/etc/default/grub": "gone", "/boot/armbianEnv.txt": "extraargs=\n"}), Options{}, Fail, "add psi=1 to /boot/armbianEnv.txt, in its line extraargs="},
		{"an unknown boot loader", "psi", noPSI.but(machine{"/etc/default/grub": "gone"}), Options{}, Fail, "your boot loader's settings"},
		{"extlinux", "psi", noPSI.but(machine{"/etc/default/grub": "gone", "/boot/extlinux/extlinux.conf": "APPEND root=a"}), Options{}, Fail, "at the end of its APPEND line"},
		{"a kernel without memcg", "memory-controller", noMemory.but(machine{"/boot/config-6.8.0-40-generic": "CONFIG_A=y\n# CONFIG_MEMCG is not set\n"}), Options{}, Fail, "no word helps"},
		{"a kernel with memcg", "memory-controller", noMemory.but(machine{"/boot/config-6.8.0-40-generic": "CONFIG_MEMCG=y\n"}), Options{}, Fail, "add cgroup_enable=memory"},

		{"psi that answers no", "psi", ubuntu.but(machine{"/proc/pressure/memory": ""}), Options{}, Fail, "add psi=1"},
		{"psi=0", "psi", noPSI.started("psi=0"), Options{}, Fail, "was started with psi=0"},
		{"psi not built", "psi", noPSI.but(machine{"/proc/config.gz": zipped(t, "# CONFIG_PSI is not set\n")}), Options{}, Fail, "no word helps"},

		{"perf", "exec-source", ubuntu, Options{Sources: only("perf")}, Warn, "looked at by headroomd instead of by the kernel"},
		{"poll", "exec-source", ubuntu, Options{Sources: only("poll")}, Warn, "up to 20 ms"},
		{"nothing", "exec-source", ubuntu, Options{Sources: []Attempt{{"poll", errors.New("no /proc\nat all")}}}, Fail, "not poll: no /proc |"},
		{"locked down", "exec-source", ubuntu.but(machine{"/sys/kernel/security/lockdown": "none integrity [confidentiality]\n"}), Options{Sources: only("perf")}, Warn, "locked down"},
		{"not tried", "exec-source", ubuntu, Options{}, Unknown, ""},
		{"no tracefs, BPF without", "tracing-fs", alpine, Options{Sources: seesAll}, NotApplicable, "not needed"},
		{"no tracefs", "tracing-fs", alpine, Options{Sources: only("perf")}, Warn, "mount -t tracefs"},

		{"yama 3", "ptrace", ubuntu.but(machine{"/proc/sys/kernel/yama/ptrace_scope": "3\n"}), Options{}, Fail, "kernel.yama.ptrace_scope = 1"},
		{"no yama", "ptrace", ubuntu.but(machine{"/proc/sys/kernel/yama/ptrace_scope": "gone"}), Options{}, OK, ""},
		{"root without the capability", "ptrace", ubuntu.but(machine{"/proc/self/status": "CapEff:\t0000000000000000\n"}), Options{}, Fail, "CAP_SYS_PTRACE"},
		{"seccomp", "ptrace", ubuntu.but(machine{"/proc/self/status": "CapEff:\t000001ffffffffff\nSeccomp:\t2\n"}), Options{}, Warn, "seccomp"},
		{"no status", "ptrace", ubuntu.but(machine{"/proc/self/status": "gone"}), Options{}, Unknown, ""},

		{"a scope's OOMPolicy, just", "systemd", ubuntu, Options{Systemd: "252.5"}, OK, "systemd 252.5 (no PIDFDs="},
		{"a scope's OOMPolicy, not yet", "systemd", ubuntu, Options{Systemd: "252.4"}, Warn, "OOMPolicy="},
		{"252 of unknown minor", "systemd", ubuntu, Options{Systemd: "252"}, OK, "systemd 252 ("},
		{"from its library", "systemd", ubuntu, Options{}, OK, "systemd 255"},
		{"no version at all", "systemd", ubuntu.but(machine{"/usr/lib/systemd/libsystemd-shared-255.so": "gone"}), Options{}, Unknown, ""},
		{"WSL without systemd", "systemd", wsl2.but(machine{"/run/systemd/system/": "gone"}), Options{}, Warn, "systemd=true"},

		{"no manager of the user", "delegation", ubuntu, Options{UID: 1000}, Fail, "su and sudo -u start none"},
		{"memory withheld", "delegation", user.but(machine{group: "cpu pids\n"}), Options{UID: 1000}, Fail, "Delegate=cpu cpuset io memory pids"},
		{"memory nowhere", "delegation", user.but(machine{group: "cpu pids\n", "/sys/fs/cgroup/cgroup.controllers": "cpu pids\n"}), Options{UID: 1000}, Fail, "see memory-controller"},
		{"a user who lingers", "lingering", user.but(machine{"/var/lib/systemd/linger/pi": ""}), Options{UID: 1000, User: "pi"}, OK, ""},

		{"swap not counted", "swap-accounting", debian11.but(machine{"/sys/fs/cgroup/system.slice/memory.swap.max": "gone"}), Options{}, Warn, "swapaccount=1"},
		{"no swap", "swap", ubuntu.but(machine{"/proc/swaps": "Filename\n"}), Options{}, Warn, "apt-get install zram-tools"},
		{"no swap and much memory", "swap", ubuntu.but(machine{"/proc/swaps": "Filename\n", "/proc/meminfo": meminfo(32000, 0)}), Options{}, OK, ""},
		{"zram", "swap", ubuntu.but(machine{"/proc/swaps": "Filename\n/dev/zram0 partition 500 0 100\n"}), Options{}, OK, "physical memory too"},
		{"eMMC", "swap", raspberry.but(machine{"/sys/block/mmcblk0/device/type": "MMC\n"}), Options{}, OK, "/var/swap"},
		{"a card, and zram before it", "swap", raspberry.but(machine{"/proc/swaps": "Filename\n/dev/zram0 partition 500 0 100\n/var/swap file 500 0 -2\n"}), Options{}, OK, "/var/swap on an SD card"},

		{"settings that let nothing start", "memory", raspberry, Options{Limits: &Limits{800, 200, 90}}, Fail, "every heavy command waits"},
		{"critical above the reserve", "memory", raspberry, Options{Limits: &Limits{100, 100, 100}}, Warn, "lower critical_mb"},
		{"256 MB", "memory", raspberry.but(machine{"/proc/meminfo": meminfo(220, 0)}), Options{Limits: &Limits{55, 33, 22}}, Warn, "hardly fits"},
		{"an old kernel's meminfo", "memory", raspberry.but(machine{"/proc/meminfo": "MemTotal: 900000 kB\n"}), Options{}, Fail, "MemAvailable"},
		{"panics", "panic-on-oom", ubuntu.but(machine{"/proc/sys/vm/panic_on_oom": "2\n"}), Options{}, Fail, "stops the whole machine"},
		{"panics seldom", "panic-on-oom", ubuntu.but(machine{"/proc/sys/vm/panic_on_oom": "1\n"}), Options{}, Warn, "sysctl vm.panic_on_oom=0"},

		{"16 KB pages", "page-size", raspberry.but(machine{"/proc/self/smaps": "KernelPageSize: 16 kB\n"}), Options{}, OK, "16 KB; each process"},
		{"WSL 1", "environment", wsl2.but(machine{"/proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"}), Options{}, Fail, "wsl --set-version"},
		{"podman", "environment", ubuntu.but(machine{"/run/.containerenv": "", "/proc/self/ns/pid": "-> pid:[4026532999]"}), Options{}, Warn, "(podman)"},
		{"docker with the host's pids", "environment", ubuntu.but(machine{"/.dockerenv": "", "/proc/self/mountinfo": "1 0 0:50 / / rw - overlay overlay rw\n"}), Options{}, Warn, "(docker)"},
		{"a machine made of an image", "environment", ubuntu.but(machine{"/.dockerenv": ""}), Options{}, OK, ""},
		{"version 1 by another init", "cgroup-version", alpine.but(machine{"/etc/rc.conf": "gone", "/proc/self/mountinfo": "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:9 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"}), Options{}, Fail, "cgroup_no_v1=all"},
		{"cgroups that are closed", "cgroup-version", ubuntu.but(machine{"/proc/self/mountinfo": strings.Replace(unifiedMounts, "rw,nosuid shared:9", "ro,nosuid shared:9", 1)}), Options{}, Fail, "mount -o remount,rw /sys/fs/cgroup"},
		{"nspawn", "environment", ubuntu.but(machine{"/run/systemd/container": "systemd-nspawn\n"}), Options{}, Warn, "(systemd-nspawn)"},
		{"kubernetes", "environment", ubuntu.but(machine{"/proc/1/cgroup": "0::/kubepods/burstable/pod1\n"}), Options{}, Warn, "(kubepods)"},
		{"a chroot", "environment", ubuntu.but(machine{"/proc/1/root": "-> /"}), Options{}, Warn, "inside a chroot"},
		{"unshared pids", "environment", ubuntu.but(machine{"/proc/self/ns/pid": "-> pid:[4026532999]"}), Options{}, Warn, "pid namespace"},

		{"not installed", "service", ubuntu.but(machine{"/usr/lib/systemd/system/headroomd.service": "gone"}), Options{}, Warn, "make install"},
		{"by hand", "service", ubuntu.but(machine{"/usr/lib/systemd/system/headroomd.service": "gone"}), Options{Governor: Governor{Asked: true}}, Warn, "gone after the next boot"},
		{"masked", "service", ubuntu.but(machine{"/etc/systemd/system/headroomd.service": "-> /dev/null"}), Options{}, Fail, "unmask"},
		{"dead", "service", ubuntu.but(machine{"/sys/fs/cgroup/system.slice/headroomd.service/cgroup.events": "gone"}), Options{}, Fail, "not running"},
		{"not enabled", "service", ubuntu.but(machine{"/etc/systemd/system/multi-user.target.wants/headroomd.service": "gone"}), Options{}, Warn, "running, but not enabled"},
		{"nobody answers", "governor", ubuntu, Options{Governor: Governor{Asked: true, Err: errors.New("nobody listens")}}, Warn, "nobody listens"},
		{"no caps", "governor", ubuntu, Options{Governor: Governor{Asked: true, Mode: "enforce", NoCaps: "no controller"}}, Warn, "no controller"},
		{"observe", "governor", ubuntu, Options{Governor: Governor{Asked: true, Mode: "observe"}}, Warn, `mode = "enforce"`},

		{"settings with mistakes", "settings", ubuntu, Options{Settings: File{Path: "/etc/h.toml", Found: true, Faults: []error{errors.New("/etc/h.toml:3: no such key"), errors.New("b"), errors.New("c"), errors.New("d")}}}, Fail, "/etc/h.toml:3: no such key; b; c; and 1 more"},
		{"rules with a mistake", "rules", ubuntu, Options{Rules: File{Path: "/etc/r", Faults: []error{errors.New("x")}}}, Fail, "headroomd rules check"},
		{"no settings", "settings", ubuntu, Options{Settings: File{Path: "/etc/h.toml"}}, OK, "built-in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Root = tt.machine.at(t)
			c := checkNamed(t, Examine(tt.options), tt.check)
			if c.State != tt.state || !strings.Contains(words(c), tt.says) {
				t.Errorf("%s: %s\nwant %s: %s", c.State, words(c), tt.state, tt.says)
			}
		})
	}
}

func TestFailed(t *testing.T) {
	if Failed([]Check{{State: Warn}, {State: Unknown}, {State: NotApplicable}, {State: OK}}) || !Failed([]Check{{State: OK}, {State: Fail}}) {
		t.Error("failed is what has a check that fails, and nothing else")
	}
}

func TestSudo(t *testing.T) {
	root := ubuntu.but(machine{"/proc/swaps": "Filename\n"}).at(t)
	for uid, want := range map[int]string{0: "apt-get install zram-tools", 1000: "sudo apt-get install zram-tools"} {
		if got := checkNamed(t, Examine(Options{Root: root, UID: uid}), "swap").Commands[0]; got != want {
			t.Errorf("uid %d: %q, want %q", uid, got, want)
		}
	}
}

func TestParseRelease(t *testing.T) {
	tests := []struct {
		text string
		want release
	}{
		{"6.12.34+rpt-rpi-v8\n", release{6, 12}}, {"257", release{257, 0}}, {"252.39-1~deb12u1)", release{252, 39}},
		{"", release{}}, {"x", release{}}, {"-1.2", release{}},
	}
	for _, tt := range tests {
		if got := parseRelease(tt.text); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestMounts(t *testing.T) {
	all := parseMounts("22 1 8:1 / / rw - ext4 /dev/sda1 rw\nnonsense\n30 22 8:2 / /var/my\\040disk rw shared:3 - btrfs /dev/sdb rw\n")
	if len(all) != 2 || all[1].at != "/var/my disk" {
		t.Fatalf("mounts %+v", all)
	}
	for path, want := range map[string]string{"/var/my disk/swap": "/dev/sdb", "/var/my diskette": "/dev/sda1"} {
		if m, ok := holding(all, path); !ok || m.source != want {
			t.Errorf("%s is on %q, %v; want %q", path, m.source, ok, want)
		}
	}
}

// FuzzMounts: no text of a kernel file makes a check fall over.
func FuzzMounts(f *testing.F) {
	f.Add(unifiedMounts)
	f.Add("1 2 3 4 5 - a b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseMounts(text) {
			holding([]mount{m}, m.at)
		}
	})
}
