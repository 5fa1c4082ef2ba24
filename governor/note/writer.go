package note

import (
	"maps"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/loader/proc"
)

// Mode is the setting `notes`.
type Mode string

const (
	On       Mode = "on"
	Terminal Mode = "terminal" // only where descriptor 2 is a terminal
	Off      Mode = "off"
)

const (
	// maxQueue bounds the notes that wait for a thread. A note costs some
	// 100 µs; 64 of them are more than a burst of held commands has.
	maxQueue = 64
	// maxThreads is how many notes may hang: a terminal whose flow is stopped
	// between the look at it and the write, or that has room for the beginning
	// of a line alone, keeps the writer until it goes on or is closed. When all
	// of them hang, notes are dropped.
	maxThreads = 4
)

// Writer writes notes. Its loop calls Tell from anywhere, as often as it
// wants, and reads Counts for status. There is nothing to close: a thread ends
// when it has nothing more to write.
type Writer struct {
	fs proc.FS

	mu      sync.Mutex
	mode    Mode
	queue   []Note
	threads int
	idle    chan struct{} // closed when nothing is under way; nil while nobody asks
	counts  map[Outcome]uint64
}

// New makes a writer; what is no mode is Off.
func New(fs proc.FS, mode Mode) *Writer {
	return &Writer{fs: fs, mode: mode, counts: make(map[Outcome]uint64)}
}

// SetMode changes the setting, for notes that are told from then on.
func (w *Writer) SetMode(mode Mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = mode
}

// Tell has a note written and returns at once. A nil Writer is silent.
func (w *Writer) Tell(n Note) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.mode {
	case On:
	case Terminal:
		n.Terminal = true
	default:
		w.counts[TurnedOff]++
		return
	}
	if len(w.queue) >= maxQueue {
		w.counts[Busy]++
		return
	}
	w.queue = append(w.queue, n)
	if w.threads < maxThreads {
		w.threads++
		go w.run()
	}
}

// Counts are what became of the notes so far.
func (w *Writer) Counts() map[Outcome]uint64 {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

// Idle is closed when all notes told so far are written or dropped. A note that
// hangs keeps it open: who ends waits for a second, not for ever.
func (w *Writer) Idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.rested()
	return idle
}

// rested closes idle when nothing is under way; the lock is held.
func (w *Writer) rested() {
	if w.idle != nil && w.threads == 0 && len(w.queue) == 0 {
		close(w.idle)
		w.idle = nil
	}
}

// run is one thread's life. It is never unlocked, so the thread and its signal
// mask end with it.
func (w *Writer) run() {
	runtime.LockOSThread()
	// SIGTTOU: a daemon in the foreground of the very terminal would be stopped
	// where `stty tostop` is set; blocked, the write is let through. Another
	// session's writer is not stopped in any case. SIGPIPE: a pipe without a
	// reader, where a socket's writer can ask for none.
	block(unix.SIGTTOU, unix.SIGPIPE)
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 {
		n := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		o := tell(w.fs, n)
		w.mu.Lock()
		w.counts[o]++
	}
	w.queue = nil
	w.threads--
	w.rested()
}

// block blocks signals on the thread that it is called on.
func block(signals ...unix.Signal) {
	var set unix.Sigset_t
	const bits = 8 * uint(unsafe.Sizeof(set.Val[0]))
	for _, sig := range signals {
		n := uint(sig) - 1
		set.Val[n/bits] |= 1 << (n % bits)
	}
	// It fails only for arguments that are none.
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
}
