package contain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listen serves one connection after the other with f.
func listen(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f(c)
		}
	}()
	return path
}

func TestDialSilentSocket(t *testing.T) {
	path := listen(t, func(c net.Conn) {})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := dialSocket(ctx, path, false, peer{uid: uint32(os.Getuid())})
	if err == nil {
		t.Fatal("connected to a socket that says nothing")
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestDialStopsHalfway(t *testing.T) {
	// It lets root in and never answers again: go-systemd asks for a match
	// without a deadline of its own.
	path := listen(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		r.ReadByte()
		for {
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.HasPrefix(line, "BEGIN"):
				io.Copy(io.Discard, r) // it listens on, and stays open
				return
			case line == "AUTH\r\n":
				c.Write([]byte("REJECTED EXTERNAL\r\n"))
			case strings.HasPrefix(line, "AUTH EXTERNAL"):
				c.Write([]byte("OK 0123456789abcdef\r\n"))
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := dialSocket(ctx, path, false, peer{uid: uint32(os.Getuid())})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("connected")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("hangs for ever")
	}
}

func TestDialChecksWhoListens(t *testing.T) {
	path := listen(t, func(c net.Conn) {})
	me := uint32(os.Getuid())
	for _, c := range []struct {
		name string
		want peer
		err  string
	}{
		{"another uid", peer{uid: me + 1}, "listens there, not uid"},
		{"another pid", peer{uid: me, pid: os.Getpid() + 1}, "the manager is pid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := dialSocket(t.Context(), path, false, c.want)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
	if _, err := dialSocket(t.Context(), filepath.Join(t.TempDir(), "none"), false, peer{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no socket: %v", err)
	}
}

func TestDialManagerNames(t *testing.T) {
	for _, name := range []string{"", "user-", "user-x", "user-99999999999", "user--1", "system2"} {
		if _, err := dialManager(t.Context(), name, 0); err == nil || !strings.Contains(err.Error(), "no such kind") {
			t.Errorf("dialManager(%q): %v", name, err)
		}
	}
	if uid, ok := managerUID("user-1000"); uid != 1000 || !ok {
		t.Errorf("user-1000: %d, %v", uid, ok)
	}
}

func TestMeteredConn(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	m := &meteredConn{Conn: b}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, err := a.Write(buf); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	var total int
	for {
		n, err := m.Read(buf)
		total += n
		if err != nil {
			break
		}
		if total > 3*bytesPerSecond {
			t.Fatal("a flood goes on")
		}
	}
	if total < bytesPerSecond-1<<16 {
		t.Errorf("ended after %d bytes already", total)
	}
}
