package doctor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// machine is the files of one that is made up: a content that begins with
// "-> " is a link, a path that ends in a slash is a directory, and a content of
// "gone" is no file at all.
type machine map[string]string

// but is the machine with other files.
func (m machine) but(other machine) machine {
	all := maps.Clone(m)
	maps.Copy(all, other)
	return all
}

// at lays the machine out and returns its root.
func (m machine) at(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range m {
		if content == "gone" {
			continue
		}
		to := filepath.Join(root, path)
		dir := filepath.Dir(to)
		if strings.HasSuffix(path, "/") {
			dir = to
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(target, to)
		} else if dir != to {
			err = os.WriteFile(to, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// process is a machine with one more process in it.
func (m machine) process(pid int, comm string, uid int, cgroup, exe string, argv ...string) machine {
	dir := fmt.Sprintf("/proc/%d/", pid)
	more := machine{
		dir + "comm":    comm + "\n",
		dir + "stat":    fmt.Sprintf("%d (%s) S 1 %[1]d %[1]d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n", pid, comm),
		dir + "status":  fmt.Sprintf("Name:\t%s\nUid:\t%d\t%[2]d\t%[2]d\t%[2]d\n", comm, uid),
		dir + "cgroup":  "0::" + cgroup + "\n",
		dir + "cmdline": strings.Join(argv, "\x00") + "\x00",
	}
	if exe != "" {
		more[dir+"exe"] = "-> " + exe
	}
	return m.but(more)
}

func meminfo(totalMB, swapMB int) string {
	return fmt.Sprintf("MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB\nSwapTotal: %d kB\nSwapFree: %[4]d kB\n",
		totalMB<<10, totalMB<<8, totalMB<<9, swapMB<<10)
}

const unifiedMounts = `22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw
23 22 0:5 / /proc rw - proc proc rw
26 22 0:24 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
27 22 0:11 / /sys/kernel/tracing rw shared:10 - tracefs tracefs rw
`

// ubuntu is a server of 2 GB where nothing is missing, with the governor as a
// service.
var ubuntu = machine{
	"/proc/sys/kernel/osrelease":                  "6.8.0-40-generic\n",
	"/proc/cmdline":                               "BOOT_IMAGE=/boot/vmlinuz-6.8.0-40-generic root=UUID=3f ro quiet splash\n",
	"/proc/self/mountinfo":                        unifiedMounts,
	"/proc/self/status":                           "Name:\theadroomd\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n",
	"/proc/self/ns/pid":                           "-> pid:[4026531836]",
	"/proc/self/smaps":                            "00400000-00500000 r-xp\nKernelPageSize:        4 kB\n",
	"/proc/meminfo":                               meminfo(1968, 2048),
	"/proc/swaps":                                 "Filename Type Size Used Priority\n/dev/vda3 partition 2097148 0 -2\n",
	"/proc/pressure/memory":                       "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"/proc/sys/kernel/yama/ptrace_scope":          "1\n",
	"/proc/sys/vm/panic_on_oom":                   "0\n",
	"/sys/fs/cgroup/cgroup.controllers":           "cpuset cpu io memory hugetlb pids rdma misc\n",
	"/sys/fs/cgroup/system.slice/memory.swap.max": "max\n",
	"/sys/fs/cgroup/system.slice/memory.max":      "max\n",
	"/sys/fs/cgroup/system.slice/headroomd.service/cgroup.events": "populated 1\nfrozen 0\n",
	"/run/systemd/system/":                                          "",
	"/usr/lib/systemd/libsystemd-shared-255.so":                     "",
	"/usr/lib/systemd/system/headroomd.service":                     "[Service]\n",
	"/etc/systemd/system/multi-user.target.wants/headroomd.service": "-> /usr/lib/systemd/system/headroomd.service",
	"/etc/default/grub":                                             "GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash\"\nGRUB_CMDLINE_LINUX=\"\"\n",
	"/usr/sbin/update-grub":                                         "",
	"/usr/bin/apt-get":                                              "",
	"/var/lib/systemd/linger/":                                      "",
}

const piLine = "console=serial0,115200 console=tty1 root=PARTUUID=4d8097e2-02 rootfstype=ext4 fsck.repair=yes rootwait"

// raspberry is a stock Raspberry Pi OS 12 on a board of 1 GB.
var raspberry = ubuntu.but(machine{
	"/proc/sys/kernel/osrelease": "6.12.34+rpt-rpi-v8\n",
	"/proc/device-tree/model":    "Raspberry Pi 4 Model B Rev 1.1\x00",
	"/proc/device-tree/chosen/bootargs": "coherent_pool=1M 8250.nr_uarts=0 cgroup_disable=memory numa_policy=interleave " +
		piLine + "\x00",
	"/proc/cmdline":                               "coherent_pool=1M 8250.nr_uarts=0 cgroup_disable=memory numa_policy=interleave " + piLine + "\n",
	"/boot/firmware/cmdline.txt":                  piLine + "\n",
	"/boot/cmdline.txt":                           "DO NOT EDIT THIS FILE\n\nThe file you are looking for has moved to /boot/firmware/cmdline.txt\n",
	"/proc/meminfo":                               meminfo(906, 512),
	"/proc/swaps":                                 "Filename Type Size Used Priority\n/var/swap file 524284 0 -2\n",
	"/proc/pressure/memory":                       "gone",
	"/sys/fs/cgroup/cgroup.controllers":           "cpuset cpu io pids\n",
	"/sys/fs/cgroup/system.slice/memory.max":      "gone",
	"/sys/block/mmcblk0/device/type":              "SD\n",
	"/usr/lib/systemd/libsystemd-shared-255.so":   "gone",
	"/usr/lib/systemd/libsystemd-shared-252.so":   "",
	"/etc/default/grub":                           "gone",
	"/usr/sbin/update-grub":                       "gone",
	"/sys/fs/cgroup/system.slice/memory.swap.max": "gone",
})

var debian11 = ubuntu.but(machine{
	"/proc/sys/kernel/osrelease":                "5.10.0-33-amd64\n",
	"/usr/lib/systemd/libsystemd-shared-255.so": "gone",
	"/lib/systemd/libsystemd-shared-247.so":     "",
})

// alpine has OpenRC, and cgroups of version 1 as it comes.
var alpine = ubuntu.but(machine{
	"/proc/sys/kernel/osrelease":                                    "6.6.49-0-lts\n",
	"/run/systemd/system/":                                          "gone",
	"/usr/lib/systemd/libsystemd-shared-255.so":                     "gone",
	"/usr/lib/systemd/system/headroomd.service":                     "gone",
	"/etc/systemd/system/multi-user.target.wants/headroomd.service": "gone",
	"/etc/default/grub":                                             "gone",
	"/usr/bin/apt-get":                                              "gone",
	"/etc/update-extlinux.conf":                                     "default_kernel_opts=\"quiet rootfstype=ext4\"\n",
	"/sbin/openrc":                                                  "",
	"/sbin/apk":                                                     "",
	"/etc/rc.conf":                                                  "#rc_cgroup_mode=\"hybrid\"\n",
	"/proc/self/mountinfo":                                          "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
	"/proc/swaps":                                                   "Filename Type Size Used Priority\n",
	"/proc/pressure/memory":                                         "gone",
	"/proc/meminfo":                                                 meminfo(1968, 0),
})

var wsl2 = ubuntu.but(machine{
	"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n",
	"/proc/cmdline":              "initrd=\\initrd.img WSL_ROOT_INIT=1 panic=-1 nr_cpus=8\n",
	"/run/systemd/container":     "wsl\n",
	"/proc/pressure/memory":      "gone",
	"/etc/default/grub":          "gone",
})

var docker = ubuntu.but(machine{
	"/.dockerenv":                       "",
	"/run/systemd/system/":              "gone",
	"/proc/self/ns/pid":                 "-> pid:[4026532201]",
	"/proc/self/status":                 "CapEff:\t00000000a80425fb\nSeccomp:\t2\n",
	"/proc/self/mountinfo":              "1 0 0:50 / / rw - overlay overlay rw\n2 1 0:24 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
	"/proc/pressure/memory":             "gone",
	"/etc/default/grub":                 "gone",
	"/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io pids\n",
})

var lxc = ubuntu.but(machine{
	"/proc/1/environ":      "container=lxc\x00TERM=linux\x00",
	"/proc/self/ns/pid":    "-> pid:[4026532301]",
	"/proc/self/mountinfo": unifiedMounts + "90 22 0:60 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n",
})

// hybrid is a Debian 10 as it comes.
var hybrid = ubuntu.but(machine{
	"/proc/sys/kernel/osrelease": "4.19.0-27-amd64\n",
	"/proc/self/mountinfo": `22 1 8:1 / / rw - ext4 /dev/sda1 rw
24 22 0:23 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
25 22 0:24 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
26 22 0:25 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
27 22 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
`,
	"/sys/fs/cgroup/unified/cgroup.controllers": "",
	"/proc/pressure/memory":                     "gone",
	"/boot/config-4.19.0-27-amd64":              "CONFIG_MEMCG=y\n# CONFIG_PSI is not set\n",
})

// user is the Ubuntu as uid 1000 sees it, whose manager has all it needs.
var user = ubuntu.but(machine{
	"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers": "cpu memory pids\n",
	"/proc/self/status": "CapEff:\t0000000000000000\nSeccomp:\t0\n",
})

func checkNamed(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	var names []string
	for _, c := range checks {
		names = append(names, strconv.Quote(c.Name))
	}
	t.Fatalf("no check %q; there are %s", name, strings.Join(names, ", "))
	return Check{}
}
