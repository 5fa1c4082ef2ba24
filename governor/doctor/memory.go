package doctor

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/governor/watchdog"
)

// memory is the machine's, in MB; -1 is not known.
type memory struct {
	total, available, swap int64
}

func readMemory(root string) memory {
	m := memory{-1, -1, -1}
	reader, err := watchdog.NewReader(root)
	if err != nil {
		return m
	}
	r, err := reader.Read()
	if err != nil {
		return m
	}
	return memory{watchdog.MB(r.MemTotal), watchdog.MB(r.MemAvailable), watchdog.MB(r.SwapTotal)}
}

// memoryCheck holds the settings against the memory that there is.
func (f *facts) memoryCheck() Check {
	const name = "memory"
	m, l := f.memory, f.o.Limits
	if m.total < 0 {
		_, err := f.read("/proc/meminfo")
		return unknown(name, "the machine's memory", err)
	}
	if m.available < 0 {
		return Check{Name: name, State: Fail, Found: "/proc/meminfo has no MemAvailable (Linux 3.14)", Means: "headroomd cannot tell how much is free, and stops nothing", Remedy: "use a newer kernel"}
	}
	found := fmt.Sprintf("%d MB", m.total)
	if l == nil {
		return ok(name, found)
	}
	found += fmt.Sprintf("; %d MB kept in reserve, %d MB needed to start, critical below %d MB", l.ReserveMB, l.MinStartMB, l.CriticalMB)
	c := Check{Name: name, Found: found}
	switch {
	case l.ReserveMB+l.MinStartMB > m.total:
		c.State = Fail
		c.Means = "reserve and start together are more than the memory: every heavy command waits until its patience is over"
		c.Remedy = "lower reserve_mb and min_start_mb in the settings, or leave both at 0 (auto)"
	case l.CriticalMB >= l.ReserveMB:
		c.State = Warn
		c.Means = "critical_mb is not below reserve_mb: a job is stopped while there is still what is kept for the others"
		c.Remedy = "lower critical_mb in the settings, or leave it at 0 (auto)"
	case m.total < 400:
		c.State = Warn
		c.Means = "a compiler or an npm install hardly fits beside the system: expect jobs to be killed at their caps"
		c.Remedy = "add zram swap (see swap), and use the lighter forms that headroomd explain offers"
	default:
		c.State = OK
	}
	return c
}

// swapArea is a line of /proc/swaps.
type swapArea struct {
	path string
	zram bool
	card string // "an SD card", "a USB stick", …: slow and worn by it; "" for anything else
}

func (f *facts) swapAreas() ([]swapArea, error) {
	text, err := f.read("/proc/swaps")
	if err != nil {
		return nil, err
	}
	var all []swapArea
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if i == 0 || len(words) < 3 {
			continue
		}
		a := swapArea{path: unescape(words[0])}
		device := a.path
		if words[1] == "file" {
			device = ""
			if m, ok := holding(f.mounts, a.path); ok {
				device = m.source
			}
		}
		device = strings.TrimPrefix(device, "/dev/")
		a.zram = strings.HasPrefix(device, "zram")
		a.card = f.card(device)
		all = append(all, a)
	}
	return all, nil
}

// card tells an SD card from eMMC, which has the same kind of name.
func (f *facts) card(device string) string {
	if !strings.HasPrefix(device, "mmcblk") {
		return ""
	}
	disk, _, _ := strings.Cut(device, "p")
	if kind, err := f.read("/sys/block/" + disk + "/device/type"); err == nil && strings.TrimSpace(kind) == "MMC" {
		return ""
	}
	return "an SD card"
}

func (f *facts) swapCheck() Check {
	const name = "swap"
	areas, err := f.swapAreas()
	if err != nil {
		return unknown(name, "/proc/swaps", err)
	}
	zram := func(c Check) Check {
		if host := f.place.host(); host != "" {
			c.Remedy = "this is for " + host + " to set up"
			return c
		}
		c.Remedy = "add compressed swap in memory (zram): it is fast and wears nothing"
		switch {
		case f.has("/usr/bin/apt-get"):
			c.Commands = []string{f.sudo("apt-get install zram-tools"), f.sudo("systemctl restart zramswap")}
		case f.has("/sbin/apk"):
			c.Commands = []string{f.sudo("apk add zram-init"), f.sudo("rc-update add zram-init"), f.sudo("rc-service zram-init start")}
		}
		return c
	}
	if len(areas) == 0 {
		c := Check{Name: name, State: OK, Found: "none"}
		if f.memory.total >= 0 && f.memory.total < 4096 {
			c.State = Warn
			c.Means = "memory that is written once and never used again stays in the way, and a job that needs a little more than it may have is killed"
			return zram(c)
		}
		return c
	}
	var names []string
	card, compressed := "", false
	for _, a := range areas {
		text := a.path
		switch {
		case a.zram:
			text, compressed = a.path+" (zram)", true
		case a.card != "":
			text, card = a.path+" on "+a.card, a.card
		}
		names = append(names, text)
	}
	c := Check{Name: name, State: OK, Found: strings.Join(names, ", ")}
	if f.memory.swap >= 0 {
		c.Found = fmt.Sprintf("%d MB: %s", f.memory.swap, c.Found)
	}
	switch {
	case card != "" && !compressed:
		c.State = Warn
		c.Means = "swap on " + card + " is a hundred times slower than memory and wears the card: a machine that uses it stands still for seconds"
		return zram(c)
	case compressed:
		c.Means = "what zram holds takes physical memory too, about a third of it: headroomd takes that off what it promises"
	}
	return c
}

// panicOnOOM: with 2 the kernel panics where it would kill, caps included.
func (f *facts) panicOnOOM() Check {
	const name = "panic-on-oom"
	text, err := f.read("/proc/sys/vm/panic_on_oom")
	value := strings.TrimSpace(text)
	c := Check{Name: name, Found: "vm.panic_on_oom is " + value,
		Remedy: "set it to 0 where it is set in /etc/sysctl.conf or /etc/sysctl.d", Commands: []string{f.sudo("sysctl vm.panic_on_oom=0")}}
	switch {
	case err != nil:
		return unknown(name, "vm.panic_on_oom", err)
	case value == "0":
		return ok(name, "off: the kernel kills a process rather than stop the machine")
	case value == "1":
		c.State, c.Means = Warn, "when the machine runs out of memory the kernel stops it instead of killing a job"
	case value == "2":
		c.State, c.Means = Fail, "a job that reaches its cap stops the whole machine"
	default:
		return unknown(name, "vm.panic_on_oom", fmt.Errorf("%q", value))
	}
	return c
}
