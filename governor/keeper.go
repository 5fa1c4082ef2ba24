package governor

import (
	"log/slog"
	"sync"
)

// keeper writes small files off the loop. Of a file that is to be written again
// before it was written once, the newer text counts.
type keeper struct {
	mu     sync.Mutex
	todo   map[string][]byte
	closed bool
	wake   chan struct{}
	write  func(path string, text []byte) error

	troubles fileTroubles
}

func newKeeper(write func(path string, text []byte) error) *keeper {
	return &keeper{todo: make(map[string][]byte), wake: make(chan struct{}, 1), write: write}
}

// keep has the file written. It returns at once.
func (k *keeper) keep(path string, text []byte) {
	k.mu.Lock()
	k.todo[path] = text
	k.mu.Unlock()
	k.rouse()
}

func (k *keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// close has run return once all is written.
func (k *keeper) close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.rouse()
}

func (k *keeper) run(log *slog.Logger) {
	for range k.wake {
		for {
			k.mu.Lock()
			todo, closed := k.todo, k.closed
			k.todo = make(map[string][]byte)
			k.mu.Unlock()
			for path, text := range todo {
				k.troubles.report(log, path, k.write(path, text))
			}
			if len(todo) > 0 {
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}
