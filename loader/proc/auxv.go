package proc

import (
	"encoding/binary"
	"math"
)

const atSecure = 23 // AT_SECURE of <elf.h>

// parseSecure finds AT_SECURE in an auxiliary vector: pairs of words, as wide
// as the process's own. Whose width that is the file does not say: read as
// 64-bit words, a 32-bit vector has its values in the upper halves of keys,
// and a real key is a small number.
func parseSecure(auxv []byte) bool {
	wide := len(auxv) >= 16
	for i := 0; i+16 <= len(auxv); i += 16 {
		if binary.NativeEndian.Uint64(auxv[i:]) > math.MaxUint16 {
			wide = false
			break
		}
	}
	if wide {
		for i := 0; i+16 <= len(auxv); i += 16 {
			if binary.NativeEndian.Uint64(auxv[i:]) == atSecure {
				return binary.NativeEndian.Uint64(auxv[i+8:]) != 0
			}
		}
		return false
	}
	for i := 0; i+8 <= len(auxv); i += 8 {
		if binary.NativeEndian.Uint32(auxv[i:]) == atSecure {
			return binary.NativeEndian.Uint32(auxv[i+4:]) != 0
		}
	}
	return false
}
