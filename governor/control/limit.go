//go:build linux

package control

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

const (
	maxClients    = 64 // at once, each that waits to run among them; each costs some 20 KB and a goroutine or two
	maxPerUser    = 24 // of them by one user
	keptForOwners = 4  // of them for root and the governor's own user, whatever others do
)

// limiter accepts no more clients than there is room for, and tells the others
// so instead of letting them wait.
type limiter struct {
	*listener
	mu      sync.Mutex
	clients map[uint32]int // by uid
}

// clientConn is a counted connection.
type clientConn struct {
	*net.UnixConn
	peer    Peer
	release func()
}

// Close may be called more than once.
func (c *clientConn) Close() error {
	c.release()
	return c.UnixConn.Close()
}

func (l *limiter) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, err := peerOf(c)
		if err != nil {
			c.Close()
			continue
		}
		if l.take(peer.UID) {
			return &clientConn{c, peer, sync.OnceFunc(func() { l.give(peer.UID) })}, nil
		}
		turnAway(c)
	}
}

// turnAway answers without having read the request. The answer fits into the
// socket's buffer; the deadline is for one that was shrunk.
func turnAway(c *net.UnixConn) {
	const body = `{"error":"too many clients"}` + "\n"
	c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	c.Close()
}

func (l *limiter) take(uid uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for _, n := range l.clients {
		total += n
	}
	if total >= maxClients {
		return false
	}
	if !owner(uid) && (l.clients[uid] >= maxPerUser || total >= maxClients-keptForOwners) {
		return false
	}
	l.clients[uid]++
	return true
}

func (l *limiter) give(uid uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[uid]--; l.clients[uid] <= 0 {
		delete(l.clients, uid)
	}
}

// owner reports whether a user may see everything: root, and the user that
// this process runs as.
func owner(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
