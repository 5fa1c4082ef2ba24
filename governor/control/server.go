package control

import (
	"context"
	"log/slog"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// State is where the server gets what it tells.
type State interface {
	Snapshot(ctx context.Context) (governor.Snapshot, error)
}

// Server answers on a Unix socket.
type Server struct{}

// NewServer starts nothing; Run listens at path.
func NewServer(path string, state State, j *journal.Journal, log *slog.Logger) *Server {
	return &Server{}
}

// Run serves until ctx is done.
func (s *Server) Run(ctx context.Context) error { return nil }
