//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// The object that is committed must be that of the sources beside it.
func TestObjectIsCurrent(t *testing.T) {
	sum := sha256.New()
	for _, name := range execSources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(text))
		sum.Write(text)
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != execSourceSum {
		t.Errorf("the BPF sources have changed since the object was made: run go generate ./loader")
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(_ExecBytes)); got != execObjectSum {
		t.Errorf("exec_bpfel.o is not the one that was generated: run go generate ./loader")
	}
}

// The layouts that C and Go have of the shared types.
func TestLayout(t *testing.T) {
	spec, err := loadExec()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		value *ebpf.MapSpec
		key   bool
		size  uintptr
		want  map[string]uintptr
	}{
		{"record", spec.Maps[execMapRing], false, unsafe.Sizeof(execRecord{}), map[string]uintptr{
			"ktime": unsafe.Offsetof(execRecord{}.Ktime), "cgroup": unsafe.Offsetof(execRecord{}.Cgroup),
			"tgid": unsafe.Offsetof(execRecord{}.Tgid), "tid": unsafe.Offsetof(execRecord{}.Tid),
			"uid": unsafe.Offsetof(execRecord{}.Uid), "tag": unsafe.Offsetof(execRecord{}.Tag),
			"comm": unsafe.Offsetof(execRecord{}.Comm)}},
		{"counts", spec.Maps[execMapCounters], false, unsafe.Sizeof(execCounts{}), map[string]uintptr{
			"seen": unsafe.Offsetof(execCounts{}.Seen), "reported": unsafe.Offsetof(execCounts{}.Reported),
			"lost": unsafe.Offsetof(execCounts{}.Lost)}},
		{"settings", spec.Maps[execMapConfig], false, unsafe.Sizeof(execSettings{}), map[string]uintptr{
			"all": unsafe.Offsetof(execSettings{}.All), "cgroups": unsafe.Offsetof(execSettings{}.Cgroups)}},
		{"name", spec.Maps[execMapNames], true, unsafe.Sizeof(execName{}), map[string]uintptr{
			"key": unsafe.Offsetof(execName{}.Key)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			described := tc.value.Value
			if tc.key {
				described = tc.value.Key
			}
			s, ok := described.(*btf.Struct)
			if !ok || s.Name != tc.name {
				t.Fatalf("the map has a %v, not struct %s", described, tc.name)
			}
			if uintptr(s.Size) != tc.size || len(s.Members) != len(tc.want) {
				t.Errorf("%d bytes and %d fields in C, %d and %d in Go", s.Size, len(s.Members), tc.size, len(tc.want))
			}
			end := btf.Bits(0)
			for _, m := range s.Members {
				if got, ok := tc.want[m.Name]; !ok || m.Offset != btf.Bits(got*8) {
					t.Errorf("%s is at bit %d in C, at byte %d in Go", m.Name, m.Offset, got)
				}
				if m.Offset != end {
					t.Errorf("there is padding before %s", m.Name)
				}
				size, err := btf.Sizeof(m.Type)
				if err != nil {
					t.Fatal(err)
				}
				end = m.Offset + btf.Bits(size*8)
			}
		})
	}
	if unsafe.Sizeof(execRecord{}) != recordBytes {
		t.Errorf("a record has %d bytes, not %d", unsafe.Sizeof(execRecord{}), recordBytes)
	}
	if got := spec.Maps[execMapNames].MaxEntries; got != maxNames {
		t.Errorf("room for %d names in C, for %d in Go", got, maxNames)
	}
	if got := spec.Maps[execMapCgroups].MaxEntries; got != maxCgroups {
		t.Errorf("room for %d cgroups in C, for %d in Go", got, maxCgroups)
	}
	if len(execName{}.Key) != commBytes+1 {
		t.Errorf("a key of %d bytes for a comm of %d", len(execName{}.Key), commBytes)
	}
}

// CO-RE would need the kernel's BTF, which a stock Raspberry Pi OS has not.
func TestObjectNeedsNoBTF(t *testing.T) {
	spec, err := loadExec()
	if err != nil {
		t.Fatal(err)
	}
	for name, program := range spec.Programs {
		for _, ins := range program.Instructions {
			if btf.CORERelocationMetadata(&ins) != nil {
				t.Errorf("%s has a CO-RE relocation", name)
			}
			if ins.IsKfuncCall() {
				t.Errorf("%s calls a kernel function", name)
			}
		}
		if n := len(program.Instructions); n > 1000 {
			t.Errorf("%s has %d instructions", name, n)
		}
	}
}
