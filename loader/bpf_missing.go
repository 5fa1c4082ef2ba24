//go:build linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package loader

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// explainBPF says in plain words why the program cannot be had, where the
// kernel's answer tells; otherwise it is a fault.
func explainBPF(err error, kernel release, capable bool) error {
	var rejected *ebpf.VerifierError
	switch {
	case errors.As(err, &rejected) && len(rejected.Log) > 0:
		// Its answer has the same numbers as missing rights and features have,
		// and means another thing: that this program is at fault.
	case kernel != release{} && kernel.before(5, 8):
		return &missing{fmt.Sprintf("needs Linux 5.8 for the ring buffer, this is %v", kernel), err}
	case errors.Is(err, unix.ENOSYS):
		return &missing{"the kernel is built without CONFIG_BPF_SYSCALL", err}
	case denied(err) && !capable:
		return &missing{"needs root, or CAP_BPF and CAP_PERFMON", nil}
	case denied(err):
		return &missing{"the kernel refuses BPF to this process: locked down, or a container's seccomp filter", err}
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		// The program type, the tracepoint or a helper is not there.
		return &missing{"the kernel lacks tracing by BPF (CONFIG_BPF_EVENTS, CONFIG_TRACEPOINTS) or CONFIG_CGROUPS", err}
	}
	return fmt.Errorf("load the BPF program: %w", err)
}
