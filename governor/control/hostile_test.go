//go:build linux

package control

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// raw sends a request as it is and gives the answer's first line and body.
func raw(t *testing.T, path, request string) (status, body string) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.60q: %s", request, err)
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.Status, string(text)
}

func TestHostileRequests(t *testing.T) {
	path := serve(t, fixed{}, journal.New(journal.Options{}))
	tests := []struct {
		name    string
		request string
		want    string
	}{
		{"good", "GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200 OK"},
		{"no path", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404 Not Found"},
		{"other version", "GET /v2/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404 Not Found"},
		{"other method", "DELETE /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405 Method Not Allowed"},
		{"body", "GET /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "400 Bad Request"},
		{"endless body", "GET /v1/status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("400\r\n"+strings.Repeat("x", 1024)+"\r\n", 300), "400 Bad Request"},
		{"large header", "GET /v1/status HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", "431 Request Header Fields Too Large"},
		{"no HTTP", "\x00\x01\x02\r\n\r\n", "400 Bad Request"},
		{"since is no time", "GET /v1/events?since=yesterday HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400 Bad Request"},
		{"since is negative", "GET /v1/events?since=-1h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400 Bad Request"},
		{"since is a duration", "GET /v1/events?since=1h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200 OK"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, body := raw(t, path, test.request); got != test.want {
				t.Errorf("got %s %s, want %s", got, body, test.want)
			}
		})
	}
}

// A client that connects and says nothing is let go after the deadline.
func TestSilentClient(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the deadline of a request")
	}
	t.Parallel()
	c, err := net.Dial("unix", serve(t, fixed{}, journal.New(journal.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * readTimeout))
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("still connected: %s", err)
	}
}

func TestTooManyClients(t *testing.T) {
	path := serve(t, fixed{}, journal.New(journal.Options{}))
	var open []net.Conn
	for range maxClients {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		// An answer says that it was accepted and counted.
		fmt.Fprint(c, "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	status, body := raw(t, path, "")
	if status != "503 Service Unavailable" || !strings.Contains(body, "too many clients") {
		t.Errorf("got %s %s", status, body)
	}
	for _, c := range open {
		c.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if status, _ = raw(t, path, "GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); status == "200 OK" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no room again: %s", status)
		}
	}
}

func TestTake(t *testing.T) {
	const alice, bob = 4_000_001, 4_000_002
	l := &limiter{clients: make(map[uint32]int)}
	for i := range maxPerUser {
		if !l.take(alice) {
			t.Fatalf("client %d of one user was turned away", i)
		}
	}
	if l.take(alice) {
		t.Error("one user has more clients than allowed")
	}
	if !l.take(bob) {
		t.Error("another user pays for it")
	}
	for uid := uint32(5_000_000); l.take(uid); uid++ {
	}
	for i := range keptForOwners {
		if !l.take(0) {
			t.Errorf("no room for root's client %d", i)
		}
	}
	if l.take(0) {
		t.Error("more clients than allowed")
	}
	l.give(alice)
	if !l.take(0) {
		t.Error("no room after one left")
	}
}

// A follower that does not read loses its place, and the journal goes on.
func TestSlowFollower(t *testing.T) {
	j := journal.New(journal.Options{})
	path := serve(t, fixed{}, j)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /v1/events?follow=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := c.Read(make([]byte, 15)); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	reason := strings.Repeat("x", 1000)
	for range 5000 {
		j.Add(journal.Record{Event: journal.Started, Reason: reason})
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("adding took %s", took)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"event":"dropped"`) {
		t.Errorf("no word of it in %d bytes", len(text))
	}
}

// What another uid is shown is asked by a process of that uid: this test's
// binary, which as a child prints the status that it gets.
func TestOtherUserAsks(t *testing.T) {
	if path := os.Getenv("HEADROOM_TEST_ASK"); path != "" {
		c, err := Dial(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range s.Jobs {
			fmt.Printf("job %s %q\n", j.ID, j.Command)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	snapshot := governor.Snapshot{Jobs: []governor.JobStatus{{ID: "a", UID: 0, Command: "make"}, {ID: "b", UID: 65533, Command: "npm"}}}
	dir, err := os.MkdirTemp("/tmp", "headroom-control")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := NewServer(dir+"/s", fixed{snapshot: snapshot}, journal.New(journal.Options{}), nil)
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	defer func() {
		cancel()
		<-ended
	}()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/ask", self, 0o755); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(dir+"/ask", "-test.run", "^TestOtherUserAsks$", "-test.v")
	child.Dir = dir
	child.Env = []string{"HEADROOM_TEST_ASK=" + dir + "/s"}
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65533, Gid: 65533}}
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	if want := "job a \"\"\njob b \"npm\"\n"; !strings.Contains(string(out), want) {
		t.Errorf("got %s, want %s in it", out, want)
	}
}
