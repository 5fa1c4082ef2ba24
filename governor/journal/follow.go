package journal

import "time"

// followRecords is how far a follower may fall behind: four times what is kept
// in memory would be of no use to it.
const followRecords = 256

// Subscription is one follower's view of the journal. C is closed after Close,
// or after a last record Dropped when the follower was too slow: a follower
// that stops reading must cost the governor neither time nor memory.
type Subscription struct {
	C <-chan Record

	c       chan Record
	journal *Journal
}

// Follow gives the records since t, as Since does, and subscribes to what is
// added after them, with no gap between the two.
func (j *Journal) Follow(t time.Time) ([]Record, *Subscription, error) {
	// One place more than may be used: the last word has to fit.
	c := make(chan Record, followRecords+1)
	s := &Subscription{C: c, c: c, journal: j}
	j.mu.Lock()
	j.followers[s] = struct{}{}
	recent := j.recent()
	j.mu.Unlock()
	past, err := j.complete(t, recent)
	return past, s, err
}

// offer hands on one record and reports whether the follower stays. The lock
// of the journal is held: nobody else sends.
func (s *Subscription) offer(r Record) bool {
	if len(s.c) < followRecords {
		s.c <- r
		return true
	}
	s.c <- Record{Time: r.Time, Event: Dropped, Reason: "this follower read too slowly; ask again for what came after"}
	close(s.c)
	return false
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if _, follows := s.journal.followers[s]; follows {
		delete(s.journal.followers, s)
		close(s.c)
	}
}
