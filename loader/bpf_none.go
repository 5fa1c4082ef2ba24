//go:build !(linux && (amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64))

package loader

import "runtime"

// openBPF has no program to load: cilium/ebpf works on 64-bit machines alone,
// and the object is little-endian.
func openBPF(Options) (Source, error) {
	return nil, &missing{what: "built without it: there is no BPF on 32-bit or big-endian machines (" + runtime.GOARCH + ")"}
}
