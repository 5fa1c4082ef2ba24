package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor/explain"
)

// The log is somebody else's: it is read for so long and so far.
const (
	killsWait  = 10 * time.Second
	killsBytes = 32 << 20
)

// otherGuards log under these names, as root.
var otherGuards = []string{"earlyoom", "systemd-oomd", "nohang"}

// killsSince are the kills for memory that the journal tells of, or else the
// kernel's own buffer. unread is why some may be missing; "" for no reason.
func killsSince(ctx context.Context, since time.Time) (kills []explain.Kill, unread string) {
	ctx, cancel := context.WithTimeout(ctx, killsWait)
	defer cancel()
	if path, err := exec.LookPath("journalctl"); err == nil {
		args := []string{"-q", "-o", "json", "--no-pager", "--since", "@" + strconv.FormatInt(since.Unix(), 10), "_TRANSPORT=kernel"}
		for _, guard := range otherGuards {
			args = append(args, "+", "SYSLOG_IDENTIFIER="+guard, "_UID=0")
		}
		cmd := exec.CommandContext(ctx, path, args...)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			var lines int
			kills, lines = journalKills(io.LimitReader(out, killsBytes))
			io.Copy(io.Discard, out)
			err = cmd.Wait()
			if lines > 0 && err == nil {
				return kills, ""
			}
		}
	}
	buffer, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return kills, "the kernel's log is not for this user to read: with sudo this also tells of kills that were not the governor's"
		}
		return kills, "the kernel's log cannot be read: " + err.Error()
	}
	defer unix.Close(buffer)
	return kmsgKills(plainFD(buffer), bootTime(), since), ""
}

// plainFD is read without Go's poller, which would wait for the next message.
type plainFD int

func (fd plainFD) Read(p []byte) (int, error) { return unix.Read(int(fd), p) }

// journalKills reads journalctl's JSON; lines is how many it had.
func journalKills(r io.Reader) (kills []explain.Kill, lines int) {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var entry struct {
			Time      string          `json:"__REALTIME_TIMESTAMP"`
			Message   json.RawMessage `json:"MESSAGE"`
			Name      string          `json:"SYSLOG_IDENTIFIER"`
			Transport string          `json:"_TRANSPORT"`
		}
		if json.Unmarshal(scan.Bytes(), &entry) != nil {
			continue
		}
		lines++
		var message string
		if json.Unmarshal(entry.Message, &message) != nil {
			continue // not text: no line of a guard's
		}
		k, ok := explain.KernelKill(message)
		if entry.Transport != "kernel" {
			k, ok = explain.GuardKill(entry.Name, message)
		}
		if !ok {
			continue
		}
		usec, _ := strconv.ParseInt(entry.Time, 10, 64)
		k.Time = time.UnixMicro(usec)
		kills = explain.Merge(kills, k)
	}
	return kills, lines
}

// kmsgKills reads the kernel's buffer: a record a read, "priority,number,
// microseconds since the boot,flags;text".
func kmsgKills(r io.Reader, boot, since time.Time) []explain.Kill {
	var kills []explain.Kill
	record := make([]byte, 8<<10)
	for range 200_000 {
		n, err := r.Read(record)
		if errors.Is(err, unix.EPIPE) { // overwritten while it was read
			continue
		}
		if err != nil || n == 0 {
			break
		}
		head, text, ok := bytes.Cut(record[:n], []byte(";"))
		fields := strings.Split(string(head), ",")
		if !ok || len(fields) < 3 {
			continue
		}
		priority, err1 := strconv.Atoi(fields[0])
		usec, err2 := strconv.ParseInt(fields[2], 10, 64)
		// Who may write to /dev/kmsg is shown by the facility: 0 is the kernel's.
		if err1 != nil || err2 != nil || priority>>3 != 0 {
			continue
		}
		text, _, _ = bytes.Cut(text, []byte("\n"))
		if k, ok := explain.KernelKill(string(text)); ok {
			k.Time = boot.Add(time.Duration(usec) * time.Microsecond)
			if !k.Time.Before(since) {
				kills = explain.Merge(kills, k)
			}
		}
	}
	return kills
}

// bootTime is when the kernel's clock of messages began.
func bootTime() time.Time {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(now.Nano()))
}

// killsOf are those of a process, or of a job in its time: at its scope's limit, or of
// one of its processes.
func killsOf(kills []explain.Kill, unit string, pids []int, from, to time.Time) []explain.Kill {
	return slices.DeleteFunc(slices.Clone(kills), func(k explain.Kill) bool {
		if k.Time.Before(from.Add(-time.Second)) || k.Time.After(to.Add(5*time.Second)) {
			return true
		}
		return !k.In(unit) && !slices.Contains(pids, k.PID)
	})
}
