package watchdog

import (
	"fmt"
	"math"
	"time"
)

const (
	// keptSwap is the part of the swap that does not count as room: a machine
	// that swaps to the last page does so at the speed of its disk, and the
	// kernel kills before.
	keptSwap = 0.1

	// zramRatio is what zram is taken to compress to where it holds too little to
	// tell: a third of what is put into it stays in memory.
	zramRatio = 3.0
	toldBy    = 8 << 20 // bytes stored by which zram tells its ratio
)

// swapRoom is how many bytes more can leave memory for swap. What goes to zram
// stays in memory, compressed: only the difference counts.
func (r Reading) swapRoom() int64 {
	if r.SwapTotal <= 0 || r.SwapFree <= 0 {
		return 0
	}
	free := float64(r.SwapFree) - keptSwap*float64(r.SwapTotal)
	zram := min(max(float64(r.Zram.Total-r.Zram.Stored), 0), max(free, 0))
	ratio := zramRatio
	if r.Zram.Stored > toldBy && r.Zram.Physical > 0 {
		ratio = max(float64(r.Zram.Stored)/float64(r.Zram.Physical), 1)
	}
	return int64(max(free-zram/ratio, 0))
}

// why says what was judged, in one sentence.
func (r Reading) why(l Lines, j Judgement) string {
	text := fmt.Sprintf("%d MB of %d MB are available", MB(r.MemAvailable), MB(r.MemTotal))
	if r.SwapTotal > 0 {
		text += fmt.Sprintf(", %d MB of swap are free", MB(r.SwapFree))
	}
	if rate := -j.Slope / (1 << 20); !math.IsNaN(rate) && rate >= 1 {
		text += fmt.Sprintf(", falling by %.0f MB/s", rate)
		if j.UntilCritical >= 0 && j.UntilCritical < time.Minute && j.Level != Critical {
			text += fmt.Sprintf(": critical (%d MB) in %.1f s", l.CriticalMB, j.UntilCritical.Seconds())
		}
	}
	if j.Level == Critical {
		text += fmt.Sprintf(": below the critical %d MB", l.CriticalMB)
	}
	if j.Stalled >= stalledAt {
		text += fmt.Sprintf("; everything stood still for %.0f %% of the time", 100*j.Stalled)
	}
	if j.Hurt != "" {
		text += "; " + j.Hurt + " stands still for want of memory"
	}
	return text
}
