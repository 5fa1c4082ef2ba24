//go:build linux

package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

const (
	readTimeout  = 5 * time.Second  // of a whole request
	writeTimeout = 10 * time.Second // of an answer, or of one record to a follower
	idleTimeout  = 30 * time.Second
	stateTimeout = 5 * time.Second // for the governor's answer
	stopTimeout  = time.Second     // for answers under way when the server stops
	maxHeader    = 8 << 10         // bytes
)

// State is where the server gets what it tells.
type State interface {
	Snapshot(ctx context.Context) (governor.Snapshot, error)
}

// Events is the journal as the server needs it. With an error there are still
// the records of the memory, and the subscription.
type Events interface {
	Since(t time.Time) ([]journal.Record, error)
	Follow(t time.Time) ([]journal.Record, *journal.Subscription, error)
}

// Server answers on a Unix socket.
type Server struct {
	path   string
	state  State
	events Events
	hand   Hand // nil: it only tells
	log    *slog.Logger
	past   chan struct{} // taken while the journal's files are read
}

// NewServer starts nothing; Run listens at path.
func NewServer(path string, state State, events Events, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{path: path, state: state, events: events, log: log, past: make(chan struct{}, 1)}
}

// Serves gives the server a hand, before it runs.
func (s *Server) Serves(h Hand) { s.hand = h }

// Run listens and answers until ctx is done. The socket is open to everybody
// when root runs it, and to its user alone otherwise. An error says that the
// socket could not be had (ErrInUse: by another governor) or broke.
func (s *Server) Run(ctx context.Context) error {
	l, err := s.Listen()
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// Listen takes the socket, so that the caller knows before it tells others
// that the governor is ready. Serve closes it.
func (s *Server) Listen() (net.Listener, error) {
	mode := os.FileMode(0o666)
	if os.Geteuid() != 0 {
		mode = 0o600
	}
	l, err := listen(s.path, mode)
	if err != nil {
		return nil, err
	}
	return &limiter{listener: l, clients: make(map[uint32]int)}, nil
}

// Serve answers at what Listen gave until ctx is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		server.Close()
		return fmt.Errorf("serve %s: %w", s.path, err)
	case <-ctx.Done():
	}
	stop, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancelStop()
	if err := server.Shutdown(stop); err != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.path, err)
	}
	return nil
}
