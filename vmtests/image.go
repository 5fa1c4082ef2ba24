package vmtests

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

var (
	//go:embed image/packages
	packageList string
	//go:embed image/customize.sh
	customizeScript []byte
)

// defaultMirror serves every suite that has not been archived.
const defaultMirror = "http://deb.debian.org/debian"

// Image is a bootable Debian root disk.
type Image struct {
	Suite  string // "trixie"
	Arch   string // Debian's name: "amd64"
	Mirror string // not part of the key: mirrors serve the same packages
	Cache  string // directory in which images are kept
}

// DefaultCache is $HEADROOM_VM_CACHE, else headroomd-vm in the user's cache
// directory.
func DefaultCache() (string, error) {
	if dir := os.Getenv("HEADROOM_VM_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache for images (set HEADROOM_VM_CACHE): %w", err)
	}
	return filepath.Join(dir, "headroomd-vm"), nil
}

// DefaultArch is $HEADROOM_VM_ARCH, else this machine's: Debian's names of what
// the tests know are Go's.
func DefaultArch() string {
	if arch := os.Getenv("HEADROOM_VM_ARCH"); arch != "" {
		return arch
	}
	return runtime.GOARCH
}

// DefaultImage is the image of a suite.
func DefaultImage(suite string) (Image, error) {
	cache, err := DefaultCache()
	if err != nil {
		return Image{}, err
	}
	mirror := os.Getenv("HEADROOM_VM_MIRROR")
	if mirror == "" {
		mirror = defaultMirror
	}
	return Image{Suite: suite, Arch: DefaultArch(), Mirror: mirror, Cache: cache}, nil
}

// Packages are what is installed, besides what apt itself needs.
func (im Image) Packages() []string { return parsePackages(packageList, im.Suite, im.Arch) }

// Key names the image by all that decides what is in it, save the day on which
// the mirror was asked.
func (im Image) Key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n", im.Suite, im.Arch, strings.Join(im.Packages(), ","))
	h.Write(customizeScript)
	return im.Suite + "-" + im.Arch + "-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// Dir is where the finished image is; it may not exist yet.
func (im Image) Dir() string { return filepath.Join(im.Cache, im.Key()) }

// Root, Kernel and Initrd are the files of a finished image.
func (im Image) Root() string   { return filepath.Join(im.Dir(), "root.ext4") }
func (im Image) Kernel() string { return filepath.Join(im.Dir(), "vmlinuz") }
func (im Image) Initrd() string { return filepath.Join(im.Dir(), "initrd") }

// Ensure builds the image unless it is there. Two runs that want the same image
// take turns; the second finds it done. The build takes one to two minutes and
// is logged to build.log beside the disk.
func (im Image) Ensure(ctx context.Context) error {
	if err := os.MkdirAll(im.Cache, 0o755); err != nil {
		return fmt.Errorf("make the image cache: %w", err)
	}
	unlock, err := lockFile(ctx, im.Dir()+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(im.Dir()); err == nil {
		return nil
	}
	// Not os.MkdirTemp: what a killed build left behind is found again and
	// replaced, which the lock makes safe.
	tmp := im.Dir() + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("clear an unfinished image: %w", err)
	}
	if err := im.build(ctx, tmp); err != nil {
		return fmt.Errorf("build image %s: %w", im.Key(), err)
	}
	if err := os.Rename(tmp, im.Dir()); err != nil {
		return fmt.Errorf("keep the finished image: %w", err)
	}
	return nil
}

func (im Image) build(ctx context.Context, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	// In unshare mode the hook is another user, who may not even look into a
	// home directory: it works in a place of its own that is open to all.
	out, err := os.MkdirTemp("", "headroom-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	if err := os.Chmod(out, 0o777); err != nil {
		return err
	}
	for _, name := range imageFiles {
		if err := os.WriteFile(filepath.Join(out, name), nil, 0o666); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(out, name), 0o666); err != nil {
			return err
		}
	}
	hook := filepath.Join(out, "customize.sh")
	if err := os.WriteFile(hook, customizeScript, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "build.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, "mmdebstrap", im.arguments(hook, os.Geteuid() == 0)...)
	cmd.Env = append(os.Environ(), "OUT="+out, "SUITE="+im.Suite, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mmdebstrap: %w\n%s", err, tailFile(log.Name(), 20))
	}
	for _, name := range imageFiles {
		if err := moveSparse(ctx, filepath.Join(out, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

var imageFiles = []string{"root.ext4", "vmlinuz", "initrd"}

// arguments are those of mmdebstrap. The format is null since the hook writes
// the disk itself.
func (im Image) arguments(hook string, root bool) []string {
	mode := "--mode=unshare"
	if root {
		mode = "--mode=root"
	}
	return []string{
		mode, "--variant=apt", "--format=null", "--architectures=" + im.Arch,
		`--aptopt=Acquire::Languages "none"`,
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--include=" + strings.Join(im.Packages(), ","),
		`--customize-hook="` + hook + `" "$1"`,
		im.Suite, "/dev/null", im.Mirror,
	}
}

// moveSparse copies with holes kept: a 3 GB disk holds 800 MB. The temporary
// directory and the cache are often on different file systems, so that a rename
// would fail.
func moveSparse(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "--sparse=always", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", filepath.Base(to), err, out)
	}
	return os.Remove(from)
}

// parsePackages reads the list: a package a line, perhaps followed by the
// suites for which it alone holds.
func parsePackages(list, suite, arch string) []string {
	var names []string
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		elsewhere := len(words) > 1
		for _, s := range words[1:] {
			elsewhere = elsewhere && s != suite
		}
		if !elsewhere {
			names = append(names, strings.ReplaceAll(words[0], "ARCH", arch))
		}
	}
	return names
}
