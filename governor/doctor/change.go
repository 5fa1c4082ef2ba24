package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Change is an edit of a file that was read: what it is now, and what it will
// be.
type Change struct {
	Path   string // of the file itself, below the root that was looked at
	Before string
	After  string
	info   fs.FileInfo
}

// Change reads the file of an edit below root and makes the new text. Nothing
// is written. An odd file is refused: a link may lead anywhere, and a second
// name of the file would keep the old text.
func (e Edit) Change(root string) (Change, error) {
	path := filepath.Join(root, e.Path)
	text, info, err := readOrdinary(path)
	if err != nil {
		return Change{}, fmt.Errorf("edit %s: %w", path, err)
	}
	after, err := e.Apply(text)
	if err != nil {
		return Change{}, fmt.Errorf("edit %s: %w: it has to be edited by hand", path, err)
	}
	return Change{Path: path, Before: text, After: after, info: info}, nil
}

// maxEdited is more than any file of kernel words has.
const maxEdited = 64 << 10

func readOrdinary(path string) (string, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", nil, errors.New("it is a link: edit the file that it leads to by hand")
	}
	if err != nil {
		return "", nil, plain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, plain(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return "", nil, errors.New("it is not an ordinary file")
	case ok && st.Nlink > 1:
		return "", nil, errors.New("it has more than one name (hard links): edit it by hand")
	case info.Size() > maxEdited:
		return "", nil, fmt.Errorf("it is larger than %d KB, which such a file never is", maxEdited>>10)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	if err != nil {
		return "", nil, plain(err)
	}
	return string(data), info, nil
}

// plain takes the path off an error: ours stands before it already.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Diff shows the lines that change, the old with "- " and the new with "+ ".
func (c Change) Diff() string {
	before, after := strings.Split(c.Before, "\n"), strings.Split(c.After, "\n")
	var b strings.Builder
	for i := range max(len(before), len(after)) {
		old, is := lineAt(before, i)
		now, will := lineAt(after, i)
		if is == will && old == now {
			continue
		}
		if is && old != "" {
			fmt.Fprintf(&b, "- %s\n", old)
		}
		if will && now != "" {
			fmt.Fprintf(&b, "+ %s\n", now)
		}
	}
	return b.String()
}

func lineAt(lines []string, i int) (string, bool) {
	if i >= len(lines) {
		return "", false
	}
	return lines[i], true
}

// Write keeps the file as it was beside it and puts the new one in its place;
// it returns the name of the former. At each moment a whole file is there under
// the name, and both are on the disk before the old one goes: a machine that
// loses power here must start again.
func (c Change) Write(now time.Time) (backup string, err error) {
	text, info, err := readOrdinary(c.Path)
	switch {
	case err != nil:
		return "", fmt.Errorf("edit %s: %w", c.Path, err)
	case text != c.Before || !os.SameFile(info, c.info):
		return "", fmt.Errorf("edit %s: it was changed meanwhile; look again", c.Path)
	case c.After == c.Before:
		return "", nil
	}
	if backup, err = c.keep(now); err != nil {
		return "", fmt.Errorf("keep %s as it is: %w%s", c.Path, plain(err), advice(err))
	}
	temp, err := os.CreateTemp(filepath.Dir(c.Path), ".headroom-new-*")
	if err != nil {
		return backup, fmt.Errorf("edit %s: %w%s", c.Path, plain(err), advice(err))
	}
	if err = c.fill(temp, c.After); err == nil {
		err = os.Rename(temp.Name(), c.Path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return backup, fmt.Errorf("edit %s: %w", c.Path, plain(err))
	}
	if err := syncDir(filepath.Dir(c.Path)); err != nil {
		return backup, fmt.Errorf("edit %s: it is changed, and whether that has reached the disk is not known: %w", c.Path, plain(err))
	}
	return backup, nil
}

// advice is the next step after the two ways in which a write is refused.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.EROFS):
		return " (mount it writable first: mount -o remount,rw and its directory)"
	case errors.Is(err, fs.ErrPermission):
		return " (run it as root: sudo headroomd doctor --fix)"
	}
	return ""
}

// maxBackups of one day: more means that something goes round in a circle.
const maxBackups = 20

// keep writes the old text beside the file. One of the same day that has it
// already serves.
func (c Change) keep(now time.Time) (string, error) {
	for i := 1; i <= maxBackups; i++ {
		path := c.Path + ".headroom-backup-" + now.Format("2006-01-02")
		if i > 1 {
			path += fmt.Sprintf("-%d", i)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if text, _, err := readOrdinary(path); err == nil && text == c.Before {
				return path, nil
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if err := c.fill(f, c.Before); err != nil {
			os.Remove(path)
			return "", err
		}
		return path, syncDir(filepath.Dir(path))
	}
	return "", fmt.Errorf("there are %d backups of today already", maxBackups)
}

// fill writes a new file with the owner and mode of the old one, to the disk.
func (c Change) fill(f *os.File, text string) error {
	err := c.like(f)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// like gives a file the old one's owner and mode. FAT, on which a Raspberry Pi
// boots, has neither: the mount says who owns all files, and a change is
// refused or forgotten.
func (c Change) like(f *os.File) error {
	st, ok := c.info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	var own syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &own); err != nil {
		return err
	}
	var at unix.Statfs_t
	fat := unix.Fstatfs(int(f.Fd()), &at) == nil && at.Type == unix.MSDOS_SUPER_MAGIC
	if own.Uid != st.Uid || own.Gid != st.Gid {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil && !fat {
			return err
		}
	}
	if err := f.Chmod(c.info.Mode().Perm()); err != nil && !fat {
		return err
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	// A directory of FAT has no fsync on some kernels; the whole file system
	// has one on all.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return unix.Syncfs(int(f.Fd()))
}
