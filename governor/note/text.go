package note

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// Holder is a job that holds what another one waits for.
type Holder struct {
	// Name is its program's name (argv[0]), or its family where it is another
	// user's, whose commands are nobody's business. "" where nobody holds it.
	Name string
	PID  int
	Age  time.Duration
}

// Wait is what a command waits for.
type Wait struct {
	Program   string // its name: argv[0]
	Behind    Holder
	Ahead     int   // how many others are before it in the queue
	MissingMB int64 // 0 when memory is not what is missing
	// AtMost is when it starts whatever happens; 0 where it is refused then.
	AtMost time.Duration
}

// WaitingText is for a command that waits. It says that nothing needs to be
// done, since who takes a wait for a hang starts the command once more.
func WaitingText(w Wait) string {
	text := programName(w.Program) + " waits for " + want(w)
	if w.Ahead > 0 {
		text += fmt.Sprintf("; %s before it", count(w.Ahead, "other is", "others are"))
	}
	if w.AtMost > 0 {
		text += fmt.Sprintf("; it starts by itself within %s", span(w.AtMost))
	}
	return text
}

// StartedText is for a command that starts after a wait. capMB is what it may
// use, -1 where it has no cap.
func StartedText(program string, waited time.Duration, capMB int64) string {
	text := fmt.Sprintf("%s starts after %s", programName(program), span(waited))
	if capMB > 0 {
		text += fmt.Sprintf(", with up to %d MB of memory", capMB)
	}
	return text
}

// TimedOutText is for a command that starts although there is no room for it.
func TimedOutText(w Wait, waited time.Duration, capMB int64) string {
	return StartedText(w.Program, waited, capMB) + ", though it still lacks " + want(w)
}

// RefusedText is for a command that was ended instead of started.
func RefusedText(w Wait, waited time.Duration) string {
	return fmt.Sprintf("%s was not started: it waited %s for %s; try again when that is over",
		programName(w.Program), span(waited), want(w))
}

// want is what is waited for, with who has it.
func want(w Wait) string {
	missing := ""
	if w.MissingMB > 0 {
		missing = fmt.Sprintf("%d MB more memory", w.MissingMB)
	}
	switch {
	case w.Behind.Name == "" && missing == "":
		return "its turn"
	case w.Behind.Name == "":
		return missing
	}
	holder := programName(w.Behind.Name)
	if w.Behind.PID > 0 {
		holder += fmt.Sprintf(" (pid %d, %s)", w.Behind.PID, span(w.Behind.Age))
	}
	text := "a free slot: " + holder + " holds it"
	if missing != "" {
		text += "; " + missing + " is needed"
	}
	return text
}

// programName is the last part of a path, bounded: the rest of a command line
// may hold secrets.
func programName(argv0 string) string {
	if argv0 == "" {
		return "a command"
	}
	return clean(path.Base(argv0), 40)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// span is a duration as people say it: 40s, 2m10s, 5m, 1h5m.
func span(d time.Duration) string {
	switch {
	case d >= time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(time.Second)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
