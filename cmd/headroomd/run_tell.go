package main

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// teller tells the one who waits what is waited for: on a terminal one line
// that is written over, elsewhere a line when it begins to wait and when it
// starts.
type teller struct {
	w        io.Writer
	terminal bool
	what     string // the command, in a word or two
	since    time.Time
	last     governor.RunUpdate
	open     bool // the live line is on the screen
	told     bool // a line about the wait was written
}

func newTeller(what string, now time.Time) *teller {
	_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
	return &teller{w: os.Stderr, terminal: err == nil, what: what, since: now}
}

// tellAfter is how long a wait goes untold: shorter ones nobody notices.
const tellAfter = 2 * time.Second

// wait shows where a waiting command stands. It is called every second.
func (t *teller) wait(u governor.RunUpdate, now time.Time) {
	t.last = u
	if now.Sub(t.since) < tellAfter {
		return
	}
	if !t.terminal {
		if !t.told {
			fmt.Fprintln(t.w, "headroomd:", t.sentence(now))
		}
		t.told = true
		return
	}
	t.told, t.open = true, true
	// "\x1b[K" wipes the rest of the line: all terminals that there are know it.
	fmt.Fprintf(t.w, "\r%s\x1b[K", cutTo("headroomd: "+t.sentence(now), columns-1))
}

// sentence is why it waits, with who holds what it waits for.
func (t *teller) sentence(now time.Time) string {
	s := fmt.Sprintf("%s waits %s", t.what, age(now.Sub(t.since)))
	switch u := t.last; {
	case u.BehindFamily != "" || u.BehindPID != 0:
		s += fmt.Sprintf(": a %s job (pid %d", journal.Escape(u.BehindFamily, 40), u.BehindPID)
		if u.BehindAgeS > 0 {
			s += ", " + age(time.Duration(u.BehindAgeS*float64(time.Second)))
		}
		s += ") holds the slot"
		if u.MissingMB > 0 {
			s += fmt.Sprintf(", %d MB missing", u.MissingMB)
		}
		if u.Position > 1 {
			s += fmt.Sprintf(", number %d", u.Position)
		}
	case u.MissingMB > 0:
		s += fmt.Sprintf(" for memory: %d MB missing", u.MissingMB)
	}
	return s
}

// clear takes the live line away.
func (t *teller) clear() {
	if t.open {
		fmt.Fprint(t.w, "\r\x1b[K")
		t.open = false
	}
}

// started says that the wait is over, if it was told of.
func (t *teller) started(capMB int64, now time.Time) {
	t.clear()
	if !t.told {
		return
	}
	s := fmt.Sprintf("%s starts after %s", t.what, age(now.Sub(t.since)))
	if capMB > 0 {
		s += fmt.Sprintf(", with a cap of %d MB", capMB)
	}
	fmt.Fprintln(t.w, "headroomd:", s)
}

// refused says why it does not run, and what can be done.
func (t *teller) refused(u governor.RunUpdate, now time.Time) {
	t.clear()
	if u.Behind == "" && u.BehindPID == 0 && u.MissingMB == 0 && u.Why != "" {
		fmt.Fprintf(t.w, "headroomd: %s was not started: %s\n", t.what, journal.Escape(u.Why, 400))
		return
	}
	t.last = u
	fmt.Fprintf(t.w, "headroomd: %s, and was not started; try again later, or give it longer with --wait\n", t.sentence(now))
}

func cutTo(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}
