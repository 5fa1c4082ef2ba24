package guest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// DoctorCheck is what the tests read of `headroomd doctor --json`.
type DoctorCheck struct {
	Name     string   `json:"name"`
	State    string   `json:"state"`
	Found    string   `json:"found"`
	Means    string   `json:"means"`
	Remedy   string   `json:"remedy"`
	Commands []string `json:"commands"`
}

type diagnosis []DoctorCheck

func decodeDiagnosis(t *testing.T, data []byte) diagnosis {
	t.Helper()
	var d diagnosis
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatalf("headroomd doctor: %v\n%s", err, data)
	}
	return d
}

// doctorAsRoot also holds the exit status against the answers.
func doctorAsRoot(t *testing.T, args ...string) diagnosis {
	t.Helper()
	cmd := exec.Command("headroomd", append([]string{"doctor", "--json"}, args...)...)
	out, err := cmd.Output()
	d := decodeDiagnosis(t, out)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	fails := slices.ContainsFunc(d, func(c DoctorCheck) bool { return c.State == "fail" })
	if fails != (code == 1) || code > 1 {
		t.Errorf("exit status %d: %s", code, out)
	}
	return d
}

// want holds states; "ok|warn" are several that may be.
func (d diagnosis) want(t *testing.T, who string, states map[string]string) {
	t.Helper()
	for name, state := range states {
		i := slices.IndexFunc(d, func(c DoctorCheck) bool { return c.Name == name })
		if i < 0 {
			t.Errorf("%s: no check %s", who, name)
		} else if !slices.Contains(strings.Split(state, "|"), d[i].State) {
			t.Errorf("%s: %s is %s, want %s: %+v", who, name, d[i].State, state, d[i])
		}
	}
}

func (d diagnosis) named(name string) DoctorCheck {
	for _, c := range d {
		if c.Name == name {
			return c
		}
	}
	return DoctorCheck{}
}

// TestDoctor holds what is known of this machine against what is said of it, to
// root and to a user, and that another guard is told from what a user runs
// under its name.
func TestDoctor(t *testing.T) {
	InVM(t)
	pi := Login(t, "pi")
	asPi := func() diagnosis {
		pi.Run("headroomd doctor --json >doctor.json")
		data, err := os.ReadFile("/home/pi/doctor.json")
		if err != nil {
			t.Fatal(err)
		}
		return decodeDiagnosis(t, data)
	}
	pi.Must("mkdir -p bin; cp /usr/bin/sleep bin/oomd; bin/oomd 600 & true")
	asPi().want(t, "pi, without a governor", map[string]string{
		"memory-controller": "ok", "psi": "ok", "exec-source": "warn", "ptrace": "not-applicable",
		"delegation": "ok", "lingering": "warn", "governor": "warn", "other-guards": "ok",
	})

	// One that root runs, and one whose service has a user of its own (and so a
	// /tmp of its own).
	pid := StartService(t, "vmtests-earlyoom", nil, "/usr/bin/earlyoom", "-m", "1,1", "-s", "1,1")
	const service = "/usr/local/bin/nohang"
	t.Cleanup(func() { os.Remove(service) })
	sleep, err := os.ReadFile("/usr/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(service, sleep, 0o755); err != nil {
		t.Fatal(err)
	}
	StartService(t, "nohang", []string{"DynamicUser=yes"}, service, "600")
	d := Daemon{}.Start(t)
	root := doctorAsRoot(t)
	root.want(t, "root", map[string]string{
		"environment": "ok", "kernel": "ok", "page-size": "ok", "cgroup-version": "ok", "memory-controller": "ok", "swap-accounting": "ok",
		"psi": "ok", "exec-source": "ok", "ptrace": "ok", "systemd": "ok", "delegation": "not-applicable", "lingering": "not-applicable",
		"memory": "ok", "settings": "ok", "rules": "ok", "service": "ok|warn", "governor": "ok", "guard-earlyoom": "ok", "guard-nohang": "ok",
	})
	asPi().want(t, "pi, with the governor", map[string]string{
		"exec-source": "ok", "delegation": "not-applicable", "lingering": "not-applicable", "governor": "ok", "guard-earlyoom": "ok", "guard-nohang": "ok",
	})
	pi.Run("kill %1")

	out, err := exec.Command("headroomd", "status", "--json").Output()
	var s struct {
		Guards []struct {
			Name     string `json:"name"`
			PID      int    `json:"pid"`
			ActsAtMB int64  `json:"acts_at_mb"`
			Note     string `json:"note"`
		} `json:"guards"`
	}
	if err != nil || json.Unmarshal(out, &s) != nil {
		t.Fatalf("status: %v\n%s", err, out)
	}
	if len(s.Guards) != 2 || s.Guards[0].Name != "nohang" || s.Guards[1].Name != "earlyoom" || s.Guards[1].PID != pid ||
		s.Guards[1].ActsAtMB <= 0 || s.Guards[1].ActsAtMB > 20 {
		t.Errorf("status tells of the guards %+v, want nohang and earlyoom with pid %d", s.Guards, pid)
	}
	d.Await("the start that names earlyoom", 0, func(e Event) bool { return e.Event == "started" && strings.Contains(e.Reason, "earlyoom") })
	t.Logf("guard-earlyoom: %s", root.named("guard-earlyoom").Means)
}

// TestPiDoctor is a board as it comes: what it lacks is named with the words to
// add, and --fix adds them where such a board has them, on FAT.
func TestPiDoctor(t *testing.T) {
	InVM(t)
	root := doctorAsRoot(t)
	root.want(t, "root", map[string]string{"memory-controller": "fail", "psi": "fail", "cgroup-version": "ok", "exec-source": "ok"})
	for name, word := range map[string]string{"memory-controller": "cgroup_enable=memory", "psi": "psi=1"} {
		if remedy := root.named(name).Remedy; !strings.Contains(remedy, word) {
			t.Errorf("%s does not name %s: %q", name, word, remedy)
		}
	}

	// The card of a board beside this machine's own kernel.
	card := t.TempDir()
	for _, dir := range []string{"proc", "sys", "run"} {
		if err := os.Symlink("/"+dir, filepath.Join(card, dir)); err != nil {
			t.Fatal(err)
		}
	}
	boot := filepath.Join(card, "boot/firmware")
	mountFAT(t, boot)
	file := filepath.Join(boot, "cmdline.txt")
	const line = "console=tty1 root=PARTUUID=4d8097e2-02 rootfstype=ext4 cgroup_disable=memory rootwait"
	if err := os.WriteFile(file, []byte(line+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("headroomd", "doctor", "--root", card, "--fix").CombinedOutput(); err == nil {
		t.Errorf("--fix without a terminal and without --yes: %s", out)
	}
	if text, _ := os.ReadFile(file); string(text) != line+"\n" {
		t.Fatalf("it is changed: %q", text)
	}
	out, _ := exec.Command("headroomd", "doctor", "--root", card, "--fix", "--yes").CombinedOutput()
	const want = "console=tty1 root=PARTUUID=4d8097e2-02 rootfstype=ext4 rootwait cgroup_enable=memory psi=1\n"
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("it is %q, %v; want %q\n%s", text, err, want, out)
	}
	kept, err := filepath.Glob(file + ".headroom-backup-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("backups %q, %v\n%s", kept, err, out)
	}
	if text, _ := os.ReadFile(kept[0]); string(text) != line+"\n" {
		t.Errorf("the backup is %q", text)
	}
	if entries, _ := os.ReadDir(boot); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	exec.Command("headroomd", "doctor", "--root", card, "--fix", "--yes").Run()
	if text, _ := os.ReadFile(file); string(text) != want {
		t.Errorf("a second time it is %q", text)
	}
}

// mountFAT mounts an empty FAT file system, written here: the guest has no
// program for it.
func mountFAT(t *testing.T, dir string) {
	t.Helper()
	const sectors, perFAT = 2880, 9
	image := make([]byte, sectors*512)
	copy(image, "\xeb\x3c\x90MSDOS5.0")
	put := func(at int, v uint16) { binary.LittleEndian.PutUint16(image[at:], v) }
	put(11, 512) // bytes a sector
	image[13] = 1
	put(14, 1) // reserved sectors
	image[16] = 2
	put(17, 224) // entries of the root directory
	put(19, sectors)
	image[21] = 0xf0
	put(22, perFAT)
	put(24, 18)
	put(26, 2)
	image[38] = 0x29
	copy(image[43:], "BOOTFS     FAT12   ")
	put(510, 0xaa55)
	for i := range 2 {
		copy(image[512*(1+i*perFAT):], "\xf0\xff\xff")
	}
	path := filepath.Join(t.TempDir(), "boot.img")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "vfat", "-o", "loop,umask=0022", path, dir).CombinedOutput(); err != nil {
		t.Fatalf("mount a FAT file system: %v\n%s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
}
