//go:build linux

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/headroomd/headroomd/governor"
)

// Hand is what a governor does for those who ask it to.
type Hand interface {
	// Admit tells of the run until its job has ended; ctx ending while it waits
	// withdraws it.
	Admit(ctx context.Context, r governor.RunRequest, tell func(governor.RunUpdate)) error
	// StopJob stops a job as a whole, for a user who may.
	StopJob(ctx context.Context, job string, by uint32) error
	// Reload reads settings and rules again. The error says what is wrong with
	// them; then the old ones stay.
	Reload(ctx context.Context) error
}

// maxRunBody bounds a request to run. A command line may be longer; what is
// kept of it never is.
const maxRunBody = 256 << 10 // bytes

// handRoutes are those that change something. Each has a body, be it an empty
// object: a form in a web page that finds its way to the socket sends another
// type.
func (s *Server) handRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/run", s.run)
	mux.HandleFunc("POST /v1/jobs/{job}/stop", s.stopJob)
	mux.HandleFunc("POST /v1/reload", s.reload)
}

// asker is who asks for something to be done; it answers the request and
// reports false where that is nobody known, or nothing can be done here.
func (s *Server) asker(w http.ResponseWriter, r *http.Request) (Peer, bool) {
	peer, known := peerFrom(r.Context())
	switch {
	case s.hand == nil:
		fail(w, http.StatusNotImplemented, "this governor only tells")
		return Peer{}, false
	case !known:
		fail(w, http.StatusForbidden, "the kernel does not say who asks")
		return Peer{}, false
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		fail(w, http.StatusUnsupportedMediaType, "the body must be application/json")
		return Peer{}, false
	}
	return peer, true
}

// run answers with one JSON object a line for as long as the job lives.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	peer, ok := s.asker(w, r)
	if !ok {
		return
	}
	var request governor.RunRequest
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRunBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("the request to run cannot be read: %v", err))
		return
	}
	request.Asker, request.UID = peer.PID, peer.UID
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	// The server notices when the asker goes, and ends the context: what waits
	// is then withdrawn.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var mu sync.Mutex
	told := false
	tell := func(u governor.RunUpdate) {
		mu.Lock()
		defer mu.Unlock()
		if !told {
			w.Header().Set("Content-Type", "application/jsonl")
			told = true
		}
		err := control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err == nil {
			err = json.NewEncoder(w).Encode(u)
		}
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			cancel()
		}
	}
	err := s.hand.Admit(ctx, request, tell)
	mu.Lock()
	defer mu.Unlock()
	switch {
	case err == nil || ctx.Err() != nil:
	case told:
		s.log.Debug("a run ended early", "err", err)
	case errors.Is(err, governor.ErrNotChild):
		fail(w, http.StatusForbidden, err.Error())
	default:
		fail(w, http.StatusServiceUnavailable, err.Error())
	}
}

func (s *Server) stopJob(w http.ResponseWriter, r *http.Request) {
	peer, ok := s.asker(w, r)
	if !ok {
		return
	}
	by := peer.UID
	if owner(by) {
		by = 0
	}
	s.answer(w, r, func(ctx context.Context) error { return s.hand.StopJob(ctx, r.PathValue("job"), by) })
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	peer, ok := s.asker(w, r)
	if !ok {
		return
	}
	if !owner(peer.UID) {
		fail(w, http.StatusForbidden, "only root and the governor's own user may have it read its settings again")
		return
	}
	s.answer(w, r, s.hand.Reload)
}

// answer does it and says how it went.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(r.Context(), handTimeout)
	defer cancel()
	switch err := do(ctx); {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{}`)
	case errors.Is(err, governor.ErrNoJob):
		fail(w, http.StatusNotFound, err.Error())
	case errors.Is(err, governor.ErrNotYours):
		fail(w, http.StatusForbidden, err.Error())
	case errors.Is(err, governor.ErrStopped):
		fail(w, http.StatusServiceUnavailable, err.Error())
	default:
		fail(w, http.StatusConflict, err.Error())
	}
}

// handTimeout is how long a stop or a reload may take; a stop has its own grace
// of some seconds.
const handTimeout = 8 * time.Second
