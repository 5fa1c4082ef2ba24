package governor

import (
	"log/slog"
	"os"
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
				if err := k.write(path, text); err != nil {
					log.Warn("keep a file over a restart", "err", err)
				}
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

// writeFile replaces a file in one step: after a crash it is the old or the new.
func writeFile(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
