//go:build linux

package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/headroomd/headroomd/governor/journal"
)

// maxAnswered is the most records that one request gets from the past.
const maxAnswered = 10_000

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", s.status)
	mux.HandleFunc("GET /v1/events", s.answerEvents)
	s.handRoutes(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && r.Method != http.MethodPost {
			w.Header().Set("Connection", "close")
			fail(w, http.StatusBadRequest, "a request has no body here")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// viewOf gives an asker who is not known the view of a uid that nobody has.
func viewOf(r *http.Request) view {
	p, known := peerFrom(r.Context())
	if !known {
		return view{uid: ^uint32(0)}
	}
	return view{all: owner(p.UID), uid: p.UID}
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), stateTimeout)
	defer cancel()
	snapshot, err := s.state.Snapshot(ctx)
	if err != nil {
		fail(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(viewOf(r).snapshot(snapshot)); err != nil {
		s.log.Debug("status was not delivered", "err", err)
	}
}

func (s *Server) answerEvents(w http.ResponseWriter, r *http.Request) {
	since, err := parseSince(r.FormValue("since"), time.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	follow := r.FormValue("follow") == "1" || r.FormValue("follow") == "true"
	var past []journal.Record
	var news <-chan journal.Record
	// The files have up to 24 MB: one asker at a time reads them, the others
	// wait for it or leave.
	select {
	case s.past <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	if follow {
		var sub *journal.Subscription
		past, sub, err = s.events.Follow(since)
		defer sub.Close()
		news = sub.C
	} else {
		past, err = s.events.Since(since)
	}
	<-s.past
	if err != nil {
		// What is in memory is still worth telling.
		s.log.Warn("the journal's files were not read whole", "err", err)
	}
	if len(past) > maxAnswered {
		past = past[len(past)-maxAnswered:]
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := stream{w: w, control: http.NewResponseController(w), view: viewOf(r)}
	if err := out.send(past...); err != nil {
		s.log.Debug("events were not delivered", "err", err)
		return
	}
	if follow {
		out.follow(r.Context(), news)
	}
}

// stream writes records to one client.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	view    view
}

// send has a deadline of its own, since the one of the answer as a whole would
// end every follower.
func (s stream) send(records ...journal.Record) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	e := json.NewEncoder(s.w)
	for _, r := range records {
		if err := e.Encode(s.view.record(r)); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// follow ends with the client, the server or the subscription.
func (s stream) follow(ctx context.Context, news <-chan journal.Record) {
	// The server keeps reading to notice when the client goes; without this
	// the deadline of the request would look like that.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	for {
		select {
		case r, more := <-news:
			if !more || s.send(r) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// parseSince reads a moment as RFC 3339 has it, or a duration back from now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("since=%.40q is neither a duration such as 1h nor a time such as 2026-01-02T15:04:05Z", text)
	}
	return t, nil
}

func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}
