package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/headroomd/headroomd/loader/proc"
)

// facts is the machine as the checks see it: what several of them need is read
// once.
type facts struct {
	o        Options
	fs       proc.FS
	kernel   release
	words    []string // the running kernel's command line
	wordsErr error
	mounts   []mount
	mountErr error
	place    place
	memory   memory
}

func look(o Options) *facts {
	if o.Root == "" {
		o.Root = "/"
	}
	f := &facts{o: o, fs: proc.NewFS(filepath.Join(o.Root, "proc"))}
	text, _ := f.read("/proc/sys/kernel/osrelease")
	f.kernel = parseRelease(text)
	line, err := f.read("/proc/cmdline")
	f.words, f.wordsErr = strings.Fields(line), err
	mountinfo, err := f.read("/proc/self/mountinfo")
	f.mounts, f.mountErr = parseMounts(mountinfo), err
	f.place = f.where()
	f.memory = readMemory(o.Root)
	return f
}

func (f *facts) root() bool { return f.o.UID == 0 }

// sudo is put before commands that only root may run.
func (f *facts) sudo(command string) string {
	if f.root() {
		return command
	}
	return "sudo " + command
}

func (f *facts) path(path string) string { return filepath.Join(f.o.Root, path) }

// maxRead is more than any file that is read has; a unit file has 5 KB, a
// kernel's configuration 300 KB.
const maxRead = 1 << 20

// read reads a file that may be anything: a FIFO is not waited on.
func (f *facts) read(path string) (string, error) { return readBounded(f.path(path)) }

func readBounded(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not an ordinary file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRead))
	return string(data), err
}

// there says whether a file exists; an error, that it cannot be told.
func (f *facts) there(path string) (bool, error) {
	_, err := os.Lstat(f.path(path))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	}
	return false, err
}

// has is there for files of which nobody may be kept.
func (f *facts) has(path string) bool {
	is, err := f.there(path)
	return is && err == nil
}

// filesIn are the files of a directory whose names end so, sorted, as paths of
// the machine.
func (f *facts) filesIn(dir, ending string) []string {
	entries, err := os.ReadDir(f.path(dir))
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// word is the value of the last "name=value" on the kernel's command line,
// which is the one that counts.
func (f *facts) word(name string) (string, bool) {
	for i := len(f.words) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(f.words[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// status is one line of /proc/self/status.
func (f *facts) status(name string) (string, bool) {
	text, err := f.read("/proc/self/status")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Capabilities, from <linux/capability.h>.
const (
	capSysPtrace = 19
	capSysAdmin  = 21
)

// capable says whether this process has a capability; the second answer,
// whether that is known.
func (f *facts) capable(capability uint) (has, known bool) {
	text, ok := f.status("CapEff")
	if !ok {
		return false, false
	}
	set, err := strconv.ParseUint(text, 16, 64)
	return err == nil && set&(1<<capability) != 0, err == nil
}

// release is a version of two or three numbers; the zero release is unknown.
type release struct{ major, minor int }

func (r release) known() bool { return r != release{} }

func (r release) before(major, minor int) bool {
	return r.major < major || r.major == major && r.minor < minor
}

func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }

// parseRelease reads the start of "6.12.34+rpt-rpi-v8", "252.39-1" and "257".
func parseRelease(text string) (r release) {
	if n, _ := fmt.Sscanf(text, "%d.%d", &r.major, &r.minor); n == 0 || r.major < 0 || r.minor < 0 {
		return release{}
	}
	return r
}
