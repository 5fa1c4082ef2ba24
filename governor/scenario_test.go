package governor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/headroomd/headroomd/governor/contain"
)

// TestScenarios plays the files of testdata/scenarios: a machine, what happens
// on it and when, and the time line that is wanted. Records begin at the left,
// acts of the governor are indented. go test -update writes the time lines anew.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := make(map[string]*txtar.File)
			for i := range a.Files {
				parts[a.Files[i].Name] = &a.Files[i]
			}
			for _, name := range []string{"machine", "events", "want"} {
				if parts[name] == nil {
					t.Fatalf("%s has no part %q", file, name)
				}
			}
			got := play(t, lines(parts["machine"].Data), lines(parts["events"].Data))
			if flag.Lookup("update").Value.String() == "true" {
				parts["want"].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(parts["want"].Data); got != want {
				t.Errorf("time line:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func lines(text []byte) []string {
	var all []string
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			all = append(all, l)
		}
	}
	return all
}

// play runs a scenario and returns its time line.
func play(t *testing.T, machine, events []string) (line string) {
	synctest.Test(t, func(t *testing.T) {
		var set []statement
		for _, l := range machine {
			set = append(set, parseStatement(t, l))
		}
		w := newWorld(t, func(o *Options) {
			for _, s := range set {
				if s.verb == "config" {
					o.Config.Mode = s.word("mode", o.Config.Mode)
					o.Config.Isolate = s.word("isolate", "true") == "true"
					s.configure(&o.Config)
					if s.word("guards", "machine") == "user" {
						o.Machine, o.UID = false, 1000
					}
				}
			}
		})
		for _, s := range set {
			w.apply(s)
		}
		w.start()
		begun := time.Now()
		for _, l := range events {
			at, rest, _ := strings.Cut(l, " ")
			when, err := time.ParseDuration(at)
			if err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			// The governor's clock ticks at whole seconds: what happened at the
			// same moment would be before or after it by chance.
			if when%time.Second == 0 {
				t.Fatalf("%q: at a tick of the clock", l)
			}
			w.after(when - time.Since(begun))
			w.apply(parseStatement(t, strings.TrimSpace(rest)))
			synctest.Wait()
		}
		w.stop()
		line = w.timeline()
	})
	return line
}

// statement is one line of a scenario: verb, bare words, key=value options,
// and an argv after "--".
type statement struct {
	t    *testing.T
	text string
	verb string
	args []string
	opts map[string]string
	argv []string
}

var wordOrQuoted = regexp.MustCompile(`[\w-]+="[^"]*"|\S+`)

func parseStatement(t *testing.T, text string) statement {
	s := statement{t: t, text: text, opts: make(map[string]string)}
	for i, word := range wordOrQuoted.FindAllString(text, -1) {
		key, value, isOption := strings.Cut(word, "=")
		switch {
		case s.argv != nil:
			s.argv = append(s.argv, word)
		case i == 0:
			s.verb = word
		case word == "--":
			s.argv = []string{}
		case isOption:
			s.opts[key] = strings.Trim(value, `"`)
		default:
			s.args = append(s.args, word)
		}
	}
	return s
}

func (s statement) word(key, otherwise string) string {
	if v, ok := s.opts[key]; ok {
		return v
	}
	return otherwise
}

func (s statement) number(key string, otherwise int) int {
	v, ok := s.opts[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		s.t.Fatalf("%q: %v", s.text, err)
	}
	return n
}

func (s statement) arg(i int) int {
	if i >= len(s.args) {
		s.t.Fatalf("%q: too few words", s.text)
	}
	n, err := strconv.Atoi(s.args[i])
	if err != nil {
		s.t.Fatalf("%q: %v", s.text, err)
	}
	return n
}

func (s statement) duration(key string, otherwise time.Duration) time.Duration {
	v, ok := s.opts[key]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		s.t.Fatalf("%q: %v", s.text, err)
	}
	return d
}

func (s statement) fault(key string, otherwise error) error {
	if v, ok := s.opts[key]; ok && v != "" {
		return errors.New(v)
	} else if ok {
		return nil
	}
	return otherwise
}

// leftScope is a scope of an earlier run of the governor.
func (s statement) leftScope() contain.Scope {
	unit := s.args[0]
	return contain.Scope{
		Unit: unit, Cgroup: "/user.slice/" + unit, CgroupID: 77, MemoryController: true,
		MemoryMax: uint64(s.number("cap", 0)) << 20, MemorySwapMax: contain.Infinity,
		Frozen: len(s.args) > 1 && s.args[1] == "frozen",
	}
}

// configure changes the settings of the queue.
func (s statement) configure(c *Config) {
	c.MaxHeavyJobs = s.number("slots", c.MaxHeavyJobs)
	c.QueueTimeoutS = s.number("timeout", c.QueueTimeoutS)
	c.QueueTimeoutAction = s.word("action", c.QueueTimeoutAction)
	c.Watch = s.word("watch", fmt.Sprint(c.Watch)) == "true"
	if unit := s.word("protect", ""); unit != "" {
		c.Protect = append(c.Protect, unit)
	}
	c.JobMemoryMaxMB = int64(s.number("most", int(c.JobMemoryMaxMB)))
}

func (s statement) unknown() { s.t.Fatalf("%q: no such verb", s.text) }
