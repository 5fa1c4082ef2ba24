package contain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

const (
	systemSocket = "/run/systemd/private"
	systemBus    = "/run/dbus/system_bus_socket"

	// dialTimeout bounds connecting and authenticating. A user may put a
	// silent socket where his manager's should be.
	dialTimeout = 5 * time.Second

	// bytesPerSecond bounds what a user's manager may send. One GetAll of a
	// service is some 20 KB, so this is far above any honest answer, and a
	// flood ends the connection instead of filling the governor's memory.
	bytesPerSecond = 4 << 20
)

// userSocket is the private socket of a user's manager.
func userSocket(uid string) string { return "/run/user/" + uid + "/systemd/private" }

// managerUID is the uid in "user-UID".
func managerUID(manager string) (uid uint32, ok bool) {
	s, ok := strings.CutPrefix(manager, "user-")
	if !ok || !isNumber(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil
}

// dialManager connects to a manager's private socket: it needs no bus daemon
// and survives a restart of it. For pid 1 the system bus is the second choice.
// mainPID, where not 0, is the pid that a user's manager must have.
func dialManager(ctx context.Context, manager string, mainPID int) (Bus, error) {
	if manager == SystemManager {
		b, err := dialSocket(ctx, systemSocket, false, peer{uid: 0})
		if err == nil {
			return b, nil
		}
		b, err2 := dialSocket(ctx, systemBus, true, peer{any: true})
		if err2 != nil {
			return nil, fmt.Errorf("connect to the system manager: %w", errors.Join(err, err2))
		}
		return b, nil
	}
	uid, ok := managerUID(manager)
	if !ok {
		return nil, fmt.Errorf("connect to manager %q: no such kind of manager", manager)
	}
	b, err := dialSocket(ctx, userSocket(strconv.Itoa(int(uid))), false, peer{uid: uid, pid: mainPID})
	if err != nil {
		return nil, fmt.Errorf("connect to the manager of uid %d: %w", uid, err)
	}
	return b, nil
}

// peer is who must be at the other end of a socket.
type peer struct {
	any bool
	uid uint32
	pid int // 0 = any
}

// dialSocket connects twice (go-systemd keeps calls and signals apart) and
// authenticates. hello is what a bus wants and a private socket does not.
func dialSocket(ctx context.Context, path string, hello bool, want peer) (Bus, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var (
		mu    sync.Mutex
		socks []net.Conn
		raw   []*dbus.Conn
	)
	closeAll := func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range socks {
			c.Close()
		}
	}
	// go-systemd and godbus read without a context: what ends a read that is
	// not answered is the closing of the socket.
	stop := context.AfterFunc(ctx, closeAll)
	conn, err := sd.NewConnection(func() (*dbus.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		if err := checkPeer(c.(*net.UnixConn), want); err != nil {
			c.Close()
			return nil, err
		}
		mu.Lock()
		socks = append(socks, c)
		mu.Unlock()
		if ctx.Err() != nil {
			c.Close()
			return nil, ctx.Err()
		}
		var rw net.Conn = c
		if !want.any && want.uid != 0 {
			rw = &meteredConn{Conn: c}
		}
		bc, err := dbus.NewConn(rw)
		if err != nil {
			c.Close()
			return nil, err
		}
		if err := bc.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))}); err != nil {
			bc.Close()
			return nil, fmt.Errorf("authenticate: %w", err)
		}
		if hello {
			if err := bc.Hello(); err != nil {
				bc.Close()
				return nil, err
			}
		}
		raw = append(raw, bc)
		return bc, nil
	})
	if !stop() && err == nil {
		conn.Close()
		err = ctx.Err()
	}
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &systemdBus{conn: conn, raw: raw}, nil
}

// checkPeer refuses a socket that somebody else listens on. A user owns the
// directory of his manager's socket: a link from there to pid 1's would have
// root place that user's processes outside his own slice.
func checkPeer(c *net.UnixConn, want peer) error {
	if want.any {
		return nil
	}
	rc, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := rc.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return fmt.Errorf("read who listens: %w", credErr)
	}
	if cred.Uid != want.uid {
		return fmt.Errorf("uid %d listens there, not uid %d", cred.Uid, want.uid)
	}
	if want.pid != 0 && int(cred.Pid) != want.pid {
		return fmt.Errorf("pid %d listens there, the manager is pid %d", cred.Pid, want.pid)
	}
	return nil
}

// meteredConn ends a connection that delivers more than bytesPerSecond.
type meteredConn struct {
	net.Conn
	since time.Time
	n     int
}

func (m *meteredConn) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if now := time.Now(); now.Sub(m.since) > time.Second {
		m.since, m.n = now, 0
	}
	if m.n += n; m.n > bytesPerSecond {
		m.Conn.Close()
		return 0, fmt.Errorf("more than %d bytes in a second: not a manager's answers", bytesPerSecond)
	}
	return n, err
}
