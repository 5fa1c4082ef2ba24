package journal

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"
)

const (
	recentRecords = 256  // kept in memory: some 150 KB
	queuedRecords = 1024 // waiting for the file: at 300 bytes a record a second of a very slow card
)

// Options say where records go. The zero value keeps them in memory only.
type Options struct {
	Path string       // of the file, "" for none; its directory has to exist
	Log  *slog.Logger // told once when the file cannot be written, and once when it can again

	maxBytes int64 // rotate at this size; 0: 8 MB
}

// Journal takes records, keeps the recent ones and hands them on. All methods
// may be called from any goroutine.
type Journal struct {
	path  string
	file  *file
	log   *slog.Logger
	queue chan Record

	mu        sync.Mutex
	ring      []Record // at most recentRecords, the oldest at next when full
	next      int
	followers map[*Subscription]struct{}
	stats     Stats
	gap       uint64 // records that the file lacks since it was last written
}

// Stats count what became of the records.
type Stats struct {
	Added   uint64
	Written uint64
	Lost    uint64 // not in the file, though there is one; still shown from memory
}

// New starts nothing and opens nothing; Run does.
func New(o Options) *Journal {
	j := &Journal{
		path:      o.Path,
		log:       o.Log,
		queue:     make(chan Record, queuedRecords),
		followers: make(map[*Subscription]struct{}),
	}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if o.Path != "" {
		j.file = newFile(o.Path, o.maxBytes)
	}
	return j
}

// Add takes a record. A zero Time is filled in, and words that others may have
// had a hand in are escaped and bounded. It never waits and never fails: what
// does not fit into the queue for the file is counted as lost.
func (j *Journal) Add(r Record) {
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	r.Time = r.Time.Round(0)
	clean(&r)

	j.mu.Lock()
	defer j.mu.Unlock()
	j.stats.Added++
	if len(j.ring) < recentRecords {
		j.ring = append(j.ring, r)
	} else {
		j.ring[j.next] = r
		j.next = (j.next + 1) % recentRecords
	}
	for s := range j.followers {
		if !s.offer(r) {
			delete(j.followers, s)
		}
	}
	if j.file == nil {
		return
	}
	select {
	case j.queue <- r:
	default:
		j.stats.Lost++
		j.gap++
	}
}

// Run writes records to the file until ctx is done and what was queued by then
// is written. Without a file it waits for ctx.
func (j *Journal) Run(ctx context.Context) error {
	if j.file == nil {
		<-ctx.Done()
		return nil
	}
	defer j.file.close()
	for {
		select {
		case r := <-j.queue:
			j.write(r)
		case <-ctx.Done():
			for {
				select {
				case r := <-j.queue:
					j.write(r)
				default:
					return nil
				}
			}
		}
	}
}

// write puts one record into the file, after the count of those that it lacks.
func (j *Journal) write(r Record) {
	j.mu.Lock()
	gap := j.gap
	j.mu.Unlock()
	var err error
	if gap > 0 {
		err = j.file.append(Record{
			Time: r.Time, Event: Gap, LostEvents: gap,
			Reason: "the file could not be written; these records were kept in memory only",
		})
	}
	if err == nil {
		if gap > 0 {
			j.log.Info("journal is written again", "path", j.path, "lost", gap)
			j.mu.Lock()
			j.gap -= gap
			j.mu.Unlock()
		}
		err = j.file.append(r)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.stats.Written++
		return
	}
	j.stats.Lost++
	if j.gap++; j.gap == 1 {
		j.log.Warn("journal cannot be written; records are kept in memory only", "path", j.path, "err", err)
	}
}

// Stats are the counts so far.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stats
}

// Recent are the records still in memory, oldest first.
func (j *Journal) Recent() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.recent()
}

func (j *Journal) recent() []Record {
	all := make([]Record, 0, len(j.ring))
	all = append(all, j.ring[j.next:]...)
	return append(all, j.ring[:j.next]...)
}

// Since are the records at or after t, oldest first, from memory and as far as
// needed from the file. A zero t asks for what is in memory.
func (j *Journal) Since(t time.Time) ([]Record, error) {
	return j.complete(t, j.Recent())
}

// complete puts what the file has from t on before the recent records.
func (j *Journal) complete(t time.Time, recent []Record) ([]Record, error) {
	if t.IsZero() {
		return recent, nil
	}
	for i, r := range recent {
		if !r.Time.Before(t) {
			if i > 0 {
				return recent[i:], nil
			}
			break
		}
		if i == len(recent)-1 {
			return nil, nil
		}
	}
	if j.file == nil {
		return recent, nil
	}
	filter := Filter{Since: t}
	if len(recent) > 0 {
		filter.Before = recent[0].Time
	}
	older, _, err := ReadFile(j.path, filter)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing was written yet
	}
	return append(older, recent...), err
}
