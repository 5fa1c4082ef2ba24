package journal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func events(records []Record) string {
	words := make([]string, len(records))
	for i, r := range records {
		words[i] = r.Event
	}
	return strings.Join(words, " ")
}

func TestRecentIsBounded(t *testing.T) {
	j := New(Options{})
	for i := range recentRecords + 3 {
		j.Add(Record{Event: fmt.Sprint(i)})
	}
	got := j.Recent()
	if len(got) != recentRecords || got[0].Event != "3" || got[len(got)-1].Event != fmt.Sprint(recentRecords+2) {
		t.Errorf("got %d records, %s to %s", len(got), got[0].Event, got[len(got)-1].Event)
	}
	if s := j.Stats(); s != (Stats{Added: recentRecords + 3}) {
		t.Errorf("got %+v", s)
	}
}

func TestAddCleans(t *testing.T) {
	j := New(Options{})
	j.Add(Record{
		Event: "x\n", Reason: "a\x1b[2J" + strings.Repeat("b", 2000), Command: "\u202e" + strings.Repeat("c", 600),
		Unit: "\xff", Notes: make([]string, 30),
	})
	got := j.Recent()[0]
	if got.Time.IsZero() {
		t.Error("no time")
	}
	if got.Event != `x\n` || got.Unit != `\xff` || !strings.HasPrefix(got.Reason, `a\x1b[2Jb`) || !strings.HasPrefix(got.Command, `\u202ec`) {
		t.Errorf("not escaped: %+v", got)
	}
	if len(got.Reason) > maxWordsBytes || len(got.Command) > maxCommandBytes {
		t.Errorf("not bounded: %d and %d bytes", len(got.Reason), len(got.Command))
	}
	if len(got.Notes) != maxNotes || got.Notes[maxNotes-1] != "15 more notes" {
		t.Errorf("notes: %q", got.Notes)
	}
}

func TestFollow(t *testing.T) {
	j := New(Options{})
	j.Add(Record{Event: "a"})
	past, sub, err := j.Follow(time.Time{})
	if err != nil || events(past) != "a" {
		t.Fatalf("got %q, %v", events(past), err)
	}
	_, other, _ := j.Follow(time.Time{})
	j.Add(Record{Event: "b"})
	if got := (<-sub.C).Event + (<-other.C).Event; got != "bb" {
		t.Errorf("got %q", got)
	}
	sub.Close()
	sub.Close()
	j.Add(Record{Event: "c"})
	if r, more := <-sub.C; more {
		t.Errorf("got %q after the end", r.Event)
	}
	if got := (<-other.C).Event; got != "c" {
		t.Errorf("the other follower: got %q", got)
	}
}

func TestSlowFollowerIsDropped(t *testing.T) {
	j := New(Options{})
	_, sub, _ := j.Follow(time.Time{})
	for range followRecords + 10 {
		j.Add(Record{Event: "x"})
	}
	var got []Record
	for r := range sub.C {
		got = append(got, r)
	}
	if len(got) != followRecords+1 || got[followRecords].Event != Dropped {
		t.Errorf("got %d records, the last %q", len(got), got[len(got)-1].Event)
	}
	sub.Close()
	if len(j.followers) != 0 {
		t.Error("it is still served")
	}
}

func TestRunWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		j := New(Options{Path: path})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		j.Add(Record{Event: "before"})
		go func() { ended <- j.Run(ctx) }()
		synctest.Wait()
		j.Add(Record{Event: "a<b>&"})
		synctest.Wait()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"event":"a<b>&"`) {
			t.Errorf("got %s", got)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&^0o640 != 0 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		cancel()
		for range 5 {
			j.Add(Record{Event: "late"})
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// What was queued when the context ends is still written.
func TestRunDrains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j := New(Options{Path: path})
	for range 10 {
		j.Add(Record{Event: "x"})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Run(ctx); err != nil {
		t.Fatal(err)
	}
	got, skipped, err := ReadFile(path, Filter{})
	if len(got) != 10 || skipped != 0 || err != nil {
		t.Errorf("got %d records, %d skipped, %v", len(got), skipped, err)
	}
}

func TestRunWithoutFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(Options{}).Run(ctx); err != nil {
		t.Error(err)
	}
}

// A place that cannot be written to costs records in the file and nothing
// else; it is told once, and the file says later what it lacks.
func TestUnwritable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		path := filepath.Join(dir, "events.jsonl")
		var log bytes.Buffer
		j := New(Options{Path: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
		go j.Run(t.Context())
		for range 3 {
			j.Add(Record{Event: "x"})
			synctest.Wait()
		}
		if s := j.Stats(); s != (Stats{Added: 3, Lost: 3}) {
			t.Errorf("got %+v", s)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("told %d times:\n%s", n, log.String())
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		j.Add(Record{Event: "y"})
		j.Add(Record{Event: "z"})
		synctest.Wait()
		got, _, err := ReadFile(path, Filter{})
		if err != nil || events(got) != "gap y z" || got[0].LostEvents != 3 {
			t.Errorf("got %q, %v", events(got), err)
		}
		if s := j.Stats(); s != (Stats{Added: 5, Written: 2, Lost: 3}) {
			t.Errorf("got %+v", s)
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("told %d times:\n%s", n, log.String())
		}
	})
}

// A disk that hangs fills the queue; Add goes on.
func TestQueueFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j := New(Options{Path: path})
	for range queuedRecords + 7 {
		j.Add(Record{Event: "x"})
	}
	if s := j.Stats(); s.Lost != 7 {
		t.Errorf("got %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j.Run(ctx)
	got, _, err := ReadFile(path, Filter{Events: []string{Gap}})
	if err != nil || len(got) != 1 || got[0].LostEvents != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSince(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }
	// An earlier governor's records are in the file alone.
	old := newFile(path, 0)
	for i := range 10 {
		if err := old.append(Record{Time: at(i), Event: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	old.close()
	j := New(Options{Path: path})
	for i := range 3 {
		j.Add(Record{Time: at(10 + i), Event: fmt.Sprint(10 + i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j.Run(ctx)
	tests := []struct {
		name  string
		since time.Time
		want  string
	}{
		{"memory", time.Time{}, "10 11 12"},
		{"part of memory", at(11), "11 12"},
		{"all of memory", at(10), "10 11 12"},
		{"between two", at(10).Add(time.Millisecond), "11 12"},
		{"reaching into the file", at(8), "8 9 10 11 12"},
		{"all", at(-1), "0 1 2 3 4 5 6 7 8 9 10 11 12"},
		{"nothing yet", at(13), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := j.Since(test.since)
			if err != nil || events(got) != test.want {
				t.Errorf("got %q, %v, want %q", events(got), err, test.want)
			}
		})
	}
}

// Before anything is written the memory answers alone.
func TestSinceWithoutFile(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none")} {
		j := New(Options{Path: path})
		j.Add(Record{Event: "x"})
		got, err := j.Since(time.Now().Add(-time.Hour))
		if err != nil || events(got) != "x" {
			t.Errorf("path %q: got %q, %v", path, events(got), err)
		}
	}
}
