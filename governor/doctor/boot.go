package doctor

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
)

// boot is where the kernel's command line of this machine is written.
type boot struct {
	path string // the file; "" where it is not known
	kind EditKind
	// said of a file that is not edited here: where the words go in it
	how   string
	after []string // commands that make an edit of it count
}

// bootFile finds it. The first that is there counts: since Raspberry Pi OS 12
// /boot/cmdline.txt is a note that the file has moved to /boot/firmware.
func (f *facts) bootFile() boot {
	if f.has("/boot/firmware/cmdline.txt") || f.place.pi() && !f.has("/boot/cmdline.txt") {
		return boot{path: f.firmwareFile(), kind: Cmdline}
	}
	if file := f.firmwareFile(); file != firmwareDefault {
		return boot{path: file, kind: Cmdline}
	}
	if f.has("/boot/cmdline.txt") {
		return boot{path: "/boot/cmdline.txt", kind: Cmdline}
	}
	if f.has("/etc/default/grub") {
		return boot{path: f.grubFile(), kind: Grub, after: []string{f.updateGrub()}}
	}
	for _, b := range []boot{
		{path: "/boot/armbianEnv.txt", how: "in its line extraargs= (make one if there is none)"},
		{path: "/boot/orangepiEnv.txt", how: "in its line extraargs= (make one if there is none)"},
		{path: "/etc/update-extlinux.conf", how: "in its default_kernel_opts=", after: []string{"update-extlinux"}},
		{path: "/etc/default/u-boot", how: "in its U_BOOT_PARAMETERS=", after: []string{"u-boot-update"}},
		{path: "/boot/extlinux/extlinux.conf", how: "at the end of its APPEND line"},
		{path: "/etc/kernel/cmdline", how: "at the end of its line", after: []string{"kernel-install add-all"}},
	} {
		if f.has(b.path) {
			return b
		}
	}
	return boot{}
}

const firmwareDefault = "/boot/firmware/cmdline.txt"

// firmwareFile is the file that the firmware of a Raspberry Pi reads: config.txt
// may name another, or a directory before it (Ubuntu's os_prefix=current/).
func (f *facts) firmwareFile() string {
	text, err := f.read("/boot/firmware/config.txt")
	if err != nil {
		return firmwareDefault
	}
	prefix, name, all := "", "cmdline.txt", true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			all = line == "[all]" // the other sections are for certain boards or moments
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		switch {
		case !all:
		case key == "os_prefix":
			prefix = value
		case key == "cmdline":
			name = value
		}
	}
	file := path.Join("/boot/firmware", prefix+name)
	if plainName(strings.ReplaceAll(prefix+name, "/", "")) && below(file, "/boot/firmware") && f.has(file) {
		return file
	}
	return firmwareDefault
}

// grubFile is the file whose GRUB_CMDLINE_LINUX_DEFAULT counts: the images of
// clouds set it anew in a file that is read later.
func (f *facts) grubFile() string {
	const variable = "GRUB_CMDLINE_LINUX_DEFAULT"
	counts := "/etc/default/grub"
	for _, file := range f.filesIn("/etc/default/grub.d", ".cfg") {
		text, err := f.read(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if value, ok := strings.CutPrefix(line, variable+"="); ok && !strings.Contains(value, variable) {
				counts = file
			}
		}
	}
	return counts
}

// updateGrub is what writes GRUB's menu anew: Debian's name for it, or the
// original.
func (f *facts) updateGrub() string {
	switch {
	case f.has("/usr/sbin/update-grub"), f.has("/sbin/update-grub"):
		return "update-grub"
	case f.has("/boot/grub2/grub.cfg"):
		return "grub2-mkconfig -o /boot/grub2/grub.cfg"
	case f.has("/boot/grub/grub.cfg"):
		return "grub-mkconfig -o /boot/grub/grub.cfg"
	}
	return "update-grub"
}

// setWords makes a check's remedy of kernel words to be added and taken away.
func (f *facts) setWords(c Check, add, remove []string) Check {
	if host := f.place.host(); host != "" {
		c.Remedy = fmt.Sprintf("this is for %s to change: %s on the kernel's command line", host, strings.Join(add, " "))
		if f.place.wsl != 0 {
			c.Remedy = fmt.Sprintf(`in %%UserProfile%%\.wslconfig, under [wsl2]: kernelCommandLine = %s; then "wsl --shutdown" in a Windows terminal`, strings.Join(add, " "))
		}
		return c
	}
	b := f.bootFile()
	words := strings.Join(add, " ")
	text, err := "", error(nil)
	if b.kind != "" {
		text, err = f.read(b.path)
	}
	// What the firmware or the kernel's own build says is not to be found in
	// the file, and not to be taken out of it.
	there := f.words
	if b.kind != "" && err == nil {
		there = strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' })
	}
	remove = slices.DeleteFunc(slices.Clone(remove), func(w string) bool { return !slices.Contains(there, w) })
	take := ""
	if len(remove) > 0 {
		take = ", and take out " + strings.Join(remove, " ")
	}
	switch {
	case b.path == "":
		c.Remedy = fmt.Sprintf("add %s to the kernel's command line in your boot loader's settings%s, and reboot", words, take)
		return c
	case b.kind == "":
		c.Remedy = fmt.Sprintf("add %s to %s, %s%s, and reboot", words, b.path, b.how, take)
	case err != nil:
		c.Remedy = b.place(words) + take + ", and reboot"
	default:
		e := Edit{Path: b.path, Kind: b.kind, Add: add, Remove: remove, After: b.after}
		switch edited, err := e.Apply(text); {
		case err != nil:
			c.Remedy = fmt.Sprintf("%s%s, and reboot (by hand: %v)", b.place(words), take, err)
		case edited == text:
			c.Remedy = fmt.Sprintf("reboot: %s has %s already", b.path, words)
			if f.inForce(add) {
				c.Remedy = f.ignored(b, words)
			}
			return c
		default:
			c.Fix = &e
			c.Remedy = b.place(words) + take + "; then reboot"
			c.Commands = append(c.Commands, f.sudo("headroomd doctor --fix"))
		}
	}
	for _, command := range append(slices.Clone(b.after), "reboot") {
		c.Commands = append(c.Commands, f.sudo(command))
	}
	return c
}

// place says where words go in a file that is edited here.
func (b boot) place(words string) string {
	if b.kind == Grub {
		return fmt.Sprintf("add %s to GRUB_CMDLINE_LINUX_DEFAULT in %s", words, b.path)
	}
	return fmt.Sprintf("add %s at the end of the one line of %s", words, b.path)
}

// inForce reports whether all words are on the running kernel's command line.
func (f *facts) inForce(words []string) bool {
	for _, w := range words {
		if !slices.Contains(f.words, w) {
			return false
		}
	}
	return true
}

// ignored is said where the kernel was started with the words and does not
// heed them.
func (f *facts) ignored(b boot, words string) string {
	text := fmt.Sprintf("%s and the running kernel's command line have %s already, and this kernel does not heed it: ", b.path, words)
	if f.place.pi() {
		return text + "update it (sudo apt full-upgrade) and reboot; some 6.12 kernels for the Pi had lost the word"
	}
	return text + "use your distribution's own kernel, or one built with CONFIG_MEMCG and CONFIG_PSI"
}

// built tells what the kernel's configuration says of an option: "y", "m", "n",
// or "" where the configuration is not to be had.
func (f *facts) built(option string) string {
	text, err := f.kernelConfig()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, option+"="); ok {
			return value
		}
	}
	return "n"
}

func (f *facts) kernelConfig() (string, error) {
	release, err := f.read("/proc/sys/kernel/osrelease")
	if err != nil {
		return "", err
	}
	release = strings.TrimSpace(release)
	if !strings.Contains(release, "/") {
		if text, err := f.read("/boot/config-" + release); err == nil && strings.Contains(text, "CONFIG_") {
			return text, nil
		}
	}
	file, err := os.Open(f.path("/proc/config.gz"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(unzipped, maxRead))
	return string(text), err
}
