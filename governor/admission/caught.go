package admission

import (
	"fmt"
	"math"
)

// TakeOff lowers a cap by the memory that a job had touched before the cap was
// in force: that stays charged to the cgroup it came from, so the job would
// have it on top. The cap stays at MinCapMB at least. A caught amount that is
// unknown is negative and takes nothing off.
func TakeOff(c Cap, caughtMB float64) Cap {
	if !(caughtMB > 0) || c.MemoryMB == 0 {
		return c
	}
	off := int64(math.Ceil(min(caughtMB, float64(math.MaxInt32))))
	memory := max(c.MemoryMB-off, min(MinCapMB, c.MemoryMB))
	if memory != c.MemoryMB {
		c.Why += fmt.Sprintf("; %d MB were touched before the cap was in force, so it is %d MB", off, memory)
	}
	c.MemoryMB = memory
	return c
}
