package governor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/admission"
)

// maxKeptFile bounds a file that is kept over a restart, in bytes: 512 learned
// peaks take some 80 KB.
const maxKeptFile = 256 << 10

// loadPeaks reads what an earlier governor learned. It always returns peaks: a
// file that is not there, or was damaged, costs memories and not the daemon. A
// damaged one is renamed to NAME.broken, for whoever wants to know.
//
// The governor calls it once, before its loop. The loop saves with what
// Peaks.MarshalJSON gives, off the loop by replaceFile, at most every half
// minute and at the end.
func loadPeaks(path string, log *slog.Logger) *admission.Peaks {
	p := new(admission.Peaks)
	text, err := readKept(path)
	if err == nil && text != nil {
		if err = json.Unmarshal(text, p); err != nil {
			p = new(admission.Peaks)
		}
	}
	if err != nil {
		log.Warn("what was learned about the memory of commands cannot be read: it is learned anew",
			"file", path, "err", err, "kept", setAside(path))
	}
	return p
}

// readKept reads a whole small file: nil where there is none. What is not a
// regular file, or too large, is an error.
func readKept(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file (%v)", info.Mode().Type())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeptFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxKeptFile {
		return nil, fmt.Errorf("it is larger than %d KB", maxKeptFile>>10)
	}
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	return text, nil
}

// setAside renames a damaged file and says how; what cannot be renamed is
// written over at the next save.
func setAside(path string) string {
	aside := path + ".broken"
	if err := os.Rename(path, aside); err != nil {
		return fmt.Sprintf("no (%v)", err)
	}
	return aside
}

// replaceFile writes a file in one step: after a crash it is the old or the
// new one, whole. It is for its owner alone (0600). It waits for the disk, so
// it is not for the loop.
func replaceFile(path string, text []byte) error {
	if len(text) > maxKeptFile {
		return fmt.Errorf("write %s: %d bytes are more than will be read again", path, len(text))
	}
	temp := path + ".new"
	// One that a crash left; a link that somebody put there is not followed.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // a full disk gets its room back
	}
	return err
}

// fileTroubles reports files that cannot be written: the first failure of each,
// with what it costs, and its end. A full disk is not the governor's end, and a
// line every half minute would not empty it. The zero value is ready.
//
// Whoever writes calls it with the outcome of each replaceFile.
type fileTroubles struct {
	mu  sync.Mutex
	bad map[string]bool
}

func (t *fileTroubles) report(log *slog.Logger, path string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch was := t.bad[path]; {
	case err != nil && !was:
		if t.bad == nil {
			t.bad = make(map[string]bool)
		}
		t.bad[path] = true
		next := "look at the directory"
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			next = "make room on the disk"
		}
		log.Warn("a file cannot be written, what it keeps would be lost at a restart: "+next,
			"file", path, "directory", filepath.Dir(path), "err", err)
	case err == nil && was:
		delete(t.bad, path)
		log.Info("a file can be written again", "file", path)
	}
}
