package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

func isNotSupported(err error) bool { return errors.Is(err, syscall.EOPNOTSUPP) }

// execSource judges how programs that start are seen.
func (f *facts) execSource() Check {
	const name = "exec-source"
	if g := f.o.Governor; g.answers() && !f.root() {
		c := ok(name, "the machine's governor sees by "+g.Source)
		if g.Source != "bpf" {
			c.State, c.Means = Warn, sourceMeans(g.Source)+" ("+g.Why+")"
		}
		return c
	}
	if f.o.Sources == nil {
		return unknown(name, "how execs can be seen (nothing was tried)", nil)
	}
	var works string
	var why []string
	for _, a := range f.o.Sources {
		if a.Err == nil {
			works = a.Name
			break
		}
		first, _, _ := strings.Cut(a.Err.Error(), "\n")
		why = append(why, fmt.Sprintf("not %s: %s", a.Name, first))
	}
	switch works {
	case "":
		return Check{Name: name, State: Fail, Found: "nothing works: " + strings.Join(why, "; "),
			Means: "headroomd sees no command that starts, and so guards none", Remedy: "is /proc mounted, and may it be read (hidepid)?"}
	case "bpf":
		return ok(name, "bpf: the kernel tells of what may be heavy, and of nothing else")
	}
	c := Check{Name: name, State: Warn, Found: works + "; " + strings.Join(why, "; "), Means: sourceMeans(works)}
	c.Remedy = f.betterSource()
	return c
}

func sourceMeans(source string) string {
	if source == "perf" {
		return "each program that starts is looked at by headroomd instead of by the kernel: some microseconds more for each, which only a shell script of thousands of them shows"
	}
	return "new programs are found by looking through /proc a hundred times a second: a heavy one runs free for up to 20 ms, and what ends sooner is not seen"
}

// betterSource is the way to a better one, from what stands against it.
func (f *facts) betterSource() string {
	lockdown, _ := f.read("/sys/kernel/security/lockdown")
	switch {
	case f.place.pidNS:
		return "run headroomd outside of this pid namespace (docker run --pid=host)"
	case !f.root():
		return "BPF and perf are root's: install the governor of the whole machine (make install, then systemctl enable --now headroomd)"
	case f.place.host() != "":
		return "this is for " + f.place.host() + " to allow"
	case f.kernel.known() && f.kernel.before(5, 8):
		return "nothing has to be done; BPF takes Linux 5.8 or newer"
	case strings.Contains(lockdown, "[confidentiality]"):
		return "the kernel is locked down (confidentiality), which forbids BPF to read: start it with lockdown=integrity, or leave it"
	case f.built("CONFIG_BPF_SYSCALL") == "n", f.built("CONFIG_BPF_EVENTS") == "n":
		return "nothing has to be done; BPF takes a kernel built with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS"
	}
	return "nothing has to be done; the reason for not having BPF is above (a 64-bit system and CAP_BPF are what it takes)"
}

// tracingFS is wanted by the classic tracepoint alone, which is tried where raw
// tracepoints are not to be had.
func (f *facts) tracingFS() Check {
	const name = "tracing-fs"
	if f.mountErr != nil {
		return unknown(name, "what is mounted", f.mountErr)
	}
	for _, m := range f.mounts {
		if m.kind == "tracefs" {
			return ok(name, "mounted at "+m.at)
		}
	}
	for _, a := range f.o.Sources {
		if a.Name == "bpf" && a.Err == nil {
			return notApplicable(name, "not mounted, and not needed: BPF works without it")
		}
	}
	switch {
	case !f.root():
		return notApplicable(name, "not mounted; only root has a use for it")
	case f.place.host() != "":
		return notApplicable(name, "not mounted; "+f.place.host()+" has it")
	}
	for _, m := range f.mounts {
		if m.kind == "debugfs" {
			return ok(name, "mounted by itself below "+m.at)
		}
	}
	return Check{Name: name, State: Warn, Found: "not mounted", Means: "the older of the two ways to load the BPF program cannot be tried",
		Remedy: "mount it, and see whether exec-source gets better", Commands: []string{f.sudo("mount -t tracefs nodev /sys/kernel/tracing")}}
}

// ptrace is what stops a heavy command for the milliseconds of its move.
func (f *facts) ptrace() Check {
	const name = "ptrace"
	if !f.root() {
		if f.o.Governor.answers() {
			return notApplicable(name, "the machine's governor does it")
		}
		return notApplicable(name, "only root stops other processes at their start: as this user a command runs free until it is in its scope")
	}
	scope := 0
	text, err := f.read("/proc/sys/kernel/yama/ptrace_scope")
	switch {
	case errors.Is(err, fs.ErrNotExist): // built without Yama
	case err != nil:
		return unknown(name, "kernel.yama.ptrace_scope", err)
	default:
		if scope, err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
			return unknown(name, "kernel.yama.ptrace_scope", err)
		}
	}
	has, known := f.capable(capSysPtrace)
	means := "a heavy command cannot be stopped at its start: it has touched some MB before its cap is in force, and these stay outside"
	switch {
	case scope >= 3:
		return Check{Name: name, State: Fail, Found: "kernel.yama.ptrace_scope is 3: nobody may trace, root neither", Means: means,
			Remedy: "set kernel.yama.ptrace_scope = 1 where it is set to 3 in /etc/sysctl.d, and reboot (it cannot be lowered before)"}
	case !known:
		return unknown(name, "whether this process has CAP_SYS_PTRACE", nil)
	case !has:
		c := Check{Name: name, State: Fail, Found: "root without CAP_SYS_PTRACE", Means: means, Remedy: "run headroomd doctor as root of the machine (sudo), not in a confined shell"}
		if f.place.container != "" {
			c.Remedy = "give it to the container: docker run --cap-add=SYS_PTRACE"
		}
		return c
	}
	if mode, ok := f.status("Seccomp"); ok && mode == "2" {
		return Check{Name: name, State: Warn, Found: "allowed, but a seccomp filter is on this process", Means: "the filter may refuse it all the same",
			Remedy: "look at what status says about catches; in a container: docker run --security-opt seccomp=unconfined"}
	}
	return ok(name, "a heavy command can be stopped until its cap is in force")
}
