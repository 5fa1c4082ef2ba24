package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// ErrNoDaemon says that no governor listens at a socket.
var ErrNoDaemon = errors.New("headroomd is not running")

const (
	dialTimeout   = 2 * time.Second
	maxStatus     = 8 << 20   // bytes
	maxRecordLine = 256 << 10 // bytes
)

// Client asks one governor.
type Client struct {
	http http.Client
}

// Dial connects to the governor that listens at path. An error that wraps
// ErrNoDaemon says that there is none.
func Dial(path string) (*Client, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	first, err := dialer.Dial("unix", path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			err = fmt.Errorf("%w: %w", ErrNoDaemon, err)
		}
		return nil, fmt.Errorf("connect to headroomd: %w", err)
	}
	waiting := make(chan net.Conn, 1)
	waiting <- first
	c := &Client{}
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			select {
			case conn := <-waiting:
				return conn, nil
			default:
				return dialer.DialContext(ctx, "unix", path)
			}
		},
		MaxIdleConns:       1,
		IdleConnTimeout:    idleClient,
		DisableCompression: true,
	}
	return c, nil
}

// idleClient is less than the server's idleTimeout, so that a connection is
// not closed under a request.
const idleClient = 20 * time.Second

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks for the state at this moment.
func (c *Client) Status(ctx context.Context) (governor.Snapshot, error) {
	var s governor.Snapshot
	body, err := c.get(ctx, "/v1/status", nil)
	if err != nil {
		return s, fmt.Errorf("ask for status: %w", err)
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxStatus)).Decode(&s); err != nil {
		return s, fmt.Errorf("read status: %w", err)
	}
	return s, nil
}

// Events calls each for every record that the governor has in memory, oldest
// first, and, following, for what is added until the context, the governor or
// an error of each ends it. It returns nil when the governor has no more to
// tell, and the context's error when that ended it.
func (c *Client) Events(ctx context.Context, follow bool, each func(journal.Record) error) error {
	return c.EventsSince(ctx, time.Time{}, follow, each)
}

// EventsSince is Events from a moment on, as far back as the governor's files
// reach.
func (c *Client) EventsSince(ctx context.Context, since time.Time, follow bool, each func(journal.Record) error) error {
	values := url.Values{}
	if !since.IsZero() {
		values.Set("since", since.Format(time.RFC3339Nano))
	}
	if follow {
		values.Set("follow", "1")
	}
	body, err := c.get(ctx, "/v1/events", values)
	if err != nil {
		return fmt.Errorf("ask for events: %w", err)
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxRecordLine)
	for lines.Scan() {
		var r journal.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

// Run asks for a command to be admitted and calls each for every word about it
// until its job has ended. It returns nil then, or the context's error: that
// ends the wait. The process that the request names must be a child of this
// one.
func (c *Client) Run(ctx context.Context, r governor.RunRequest, each func(governor.RunUpdate) error) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("ask to run: %w", err)
	}
	body, err := c.do(ctx, http.MethodPost, "/v1/run", nil, data)
	if err != nil {
		return fmt.Errorf("ask to run: %w", err)
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxRecordLine)
	last := ""
	for lines.Scan() {
		var u governor.RunUpdate
		if err := json.Unmarshal(lines.Bytes(), &u); err != nil {
			return fmt.Errorf("read about the run: %w", err)
		}
		last = u.State
		if err := each(u); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case lines.Err() != nil:
		return fmt.Errorf("read about the run: %w", lines.Err())
	case last != governor.RunEnded && last != governor.RunRefused:
		return fmt.Errorf("read about the run: %w", ErrNoDaemon)
	}
	return nil
}

// Stop stops a job as a whole.
func (c *Client) Stop(ctx context.Context, job string) error {
	return c.tell(ctx, "stop job", "/v1/jobs/"+job+"/stop")
}

// Reload has the governor read its settings and rules again.
func (c *Client) Reload(ctx context.Context) error { return c.tell(ctx, "reload", "/v1/reload") }

func (c *Client) tell(ctx context.Context, what, path string) error {
	body, err := c.do(ctx, http.MethodPost, path, nil, []byte("{}"))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return body.Close()
}

func (c *Client) get(ctx context.Context, path string, values url.Values) (io.ReadCloser, error) {
	return c.do(ctx, http.MethodGet, path, values, nil)
}

func (c *Client) do(ctx context.Context, method, path string, values url.Values, data []byte) (io.ReadCloser, error) {
	target := url.URL{Scheme: "http", Host: "headroomd", Path: path, RawQuery: values.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	var fault struct{ Error string }
	if err := json.NewDecoder(io.LimitReader(response.Body, maxStatus)).Decode(&fault); err != nil || fault.Error == "" {
		return nil, errors.New(response.Status)
	}
	return nil, errors.New(journal.Escape(fault.Error, 1024))
}
