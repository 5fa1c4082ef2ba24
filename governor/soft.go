package governor

import (
	"fmt"

	"github.com/headroomd/headroomd/governor/contain"
)

// softReason tells a kill at a cap that the kernel does not enforce, with what
// was over it: who measures comes a moment later than who counts each page.
func softReason(k contain.SoftKill) string {
	return fmt.Sprintf("it outgrew its cap and its largest process was killed (pid %d, %d MB); the kernel does not enforce caps here, "+
		"so it was measured, and was %d MB over", k.PID, k.Bytes>>20, max(k.Sum-k.Cap, 0)>>20)
}
