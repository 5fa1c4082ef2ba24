//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// maxNames is how many keys the name map has room for.
const maxNames = 4096

// maxCgroups is how many cgroups the program asks about; each costs a walk up
// the hierarchy for every exec that would be reported.
const maxCgroups = 32

// bpfFilter is the kernel's filter: what its maps hold, and the same remembered
// here, so that a change writes only what differs.
type bpfFilter struct {
	names, config, jobs, cgroups *ebpf.Map

	mu       sync.Mutex
	keys     map[string]uint32
	settings execSettings
	slots    [maxCgroups]uint64 // cgroup ids by their place in the array; 0 for none

	// Set where there are more keys than the map has room for: the kernel
	// reports all, and this filters here.
	own atomic.Pointer[names]
}

// use has the filter act on the maps, which are empty.
func (f *bpfFilter) use(m *execMaps) {
	f.names, f.config, f.jobs, f.cgroups = m.Names, m.Config, m.Jobs, m.Cgroups
	f.keys = map[string]uint32{}
}

// SetNames writes the differences: first what is new, so that no name that
// stays is missed meanwhile.
func (f *bpfFilter) SetNames(named map[string]uint32, all bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	want := keys(named)
	var own *names
	if len(want) > maxNames {
		own = &names{}
		own.SetNames(named, all)
		want, all = nil, true
	}
	f.own.Store(own)
	if all {
		if err := f.configure(func(s *execSettings) { s.All = 1 }); err != nil {
			return err
		}
	}
	// Old keys go first only where both would not fit.
	stale := maps.Clone(f.keys)
	maps.DeleteFunc(stale, func(key string, _ uint32) bool { _, ok := want[key]; return ok })
	if len(stale)+len(want) > maxNames {
		if err := f.remove(stale); err != nil {
			return err
		}
		stale = nil
	}
	for key, tag := range want {
		if old, ok := f.keys[key]; ok && old == tag {
			continue
		}
		if err := f.names.Put(nameKey(key), tag); err != nil {
			return fmt.Errorf("set name %q: %w", key, err)
		}
		f.keys[key] = tag
	}
	if err := f.remove(stale); err != nil {
		return err
	}
	if all {
		return nil
	}
	return f.configure(func(s *execSettings) { s.All = 0 })
}

func (f *bpfFilter) remove(stale map[string]uint32) error {
	for key := range stale {
		if err := f.names.Delete(nameKey(key)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("remove name %q: %w", key, err)
		}
		delete(f.keys, key)
	}
	return nil
}

func nameKey(key string) (n execName) {
	copy(n.Key[:commBytes], key)
	return n
}

// configure changes what the program is set to.
func (f *bpfFilter) configure(change func(*execSettings)) error {
	s := f.settings
	change(&s)
	if s == f.settings {
		return nil
	}
	if err := f.config.Put(uint32(0), s); err != nil {
		return fmt.Errorf("configure the program: %w", err)
	}
	f.settings = s
	return nil
}

// Ignore drops the execs in a cgroup, and in those below it while there is a
// place in the array.
func (f *bpfFilter) Ignore(cgroupID uint64, dir string) error {
	if cgroupID == 0 {
		return errors.New("ignore cgroup 0: there is none")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.jobs.Put(cgroupID, uint8(1)); err != nil {
		return fmt.Errorf("ignore cgroup %d: %w", cgroupID, err)
	}
	slot, ok := f.place(cgroupID)
	if dir == "" || !ok {
		return nil
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("ignore below %q: %w", dir, errors.Join(err, f.attend(cgroupID)))
	}
	defer unix.Close(fd) // the map holds the cgroup itself
	if err := f.cgroups.Put(uint32(slot), uint32(fd)); err != nil {
		return fmt.Errorf("ignore below %q: %w", dir, errors.Join(err, f.attend(cgroupID)))
	}
	f.slots[slot] = cgroupID
	return f.configure(func(s *execSettings) { s.Cgroups = max(s.Cgroups, uint32(slot+1)) })
}

// place is where a cgroup is in the array, or where it may go.
func (f *bpfFilter) place(cgroupID uint64) (slot int, ok bool) {
	for i, id := range f.slots {
		if id == cgroupID {
			return i, true
		}
		if id == 0 && !ok {
			slot, ok = i, true
		}
	}
	return slot, ok
}

// Attend undoes Ignore.
func (f *bpfFilter) Attend(cgroupID uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attend(cgroupID)
}

func (f *bpfFilter) attend(cgroupID uint64) error {
	if err := f.jobs.Delete(cgroupID); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("attend to cgroup %d: %w", cgroupID, err)
	}
	var used uint32
	for i, id := range f.slots {
		if id == cgroupID && id != 0 {
			if err := f.cgroups.Delete(uint32(i)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return fmt.Errorf("attend to cgroup %d: %w", cgroupID, err)
			}
			f.slots[i] = 0
		}
		if f.slots[i] != 0 {
			used = uint32(i + 1)
		}
	}
	return f.configure(func(s *execSettings) { s.Cgroups = used })
}
