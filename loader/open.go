package loader

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Choice says which source was chosen, and why not a better one.
type Choice struct {
	Name  string
	Why   string    // in plain words
	Tried []Attempt // in the order of trying; the chosen one last
}

// Attempt is one source's answer: nil, an error that is errors.ErrUnsupported
// and says what is missing, or another error: something that should have worked.
type Attempt struct {
	Name string
	Err  error
}

// opener is one kind of source. A probe is an opening: only a source that has
// reported an exec is known to work.
type opener struct {
	name string
	good string // said of it when nothing better was passed over
	open func(Options) (Source, error)
}

// ranking is from the best to the last resort.
var ranking = []opener{
	{"bpf", "the best: the kernel filters execs by program name", openBPF},
	{"perf", "wanted: each exec is told of by the kernel, filtered here", openPerf},
	{"poll", "wanted: new processes are found by looking", openPoll},
}

// Open opens the best source that works, or the one that o.Want names: then an
// error says why that does not work. An exec that was before Open returns may
// not be told of: a caller scans /proc once, now.
func Open(o Options) (Source, Choice, error) { return openFrom(ranking, o) }

func openFrom(ranking []opener, o Options) (Source, Choice, error) {
	o = o.withDefaults()
	if o.Want == "auto" {
		return firstThatWorks(ranking, o, nil)
	}
	i := slices.IndexFunc(ranking, func(p opener) bool { return p.name == o.Want })
	if i < 0 {
		return nil, Choice{}, fmt.Errorf("open source %q: there are auto, bpf, perf and poll", o.Want)
	}
	s, c, err := firstThatWorks(ranking[i:i+1], o, nil)
	if err == nil && i > 0 {
		c.Why = ranking[i].good
	}
	return s, c, err
}

// OpenAfter opens the next best source after one has ended, whatever o.Want
// says: a governor that sees worse is better than a blind one. After poll that
// is poll again. A caller scans /proc once, now.
func OpenAfter(o Options, ended string, cause error) (Source, Choice, error) {
	return openAfterFrom(ranking, o, ended, cause)
}

func openAfterFrom(ranking []opener, o Options, ended string, cause error) (Source, Choice, error) {
	i := slices.IndexFunc(ranking, func(p opener) bool { return p.name == ended })
	if i < 0 {
		return nil, Choice{}, fmt.Errorf("open a source after %q: there is no such source", ended)
	}
	if cause == nil {
		cause = errors.New("no reason given")
	}
	tried := []Attempt{{ended, fmt.Errorf("ended: %w", cause)}}
	return firstThatWorks(ranking[min(i+1, len(ranking)-1):], o.withDefaults(), tried)
}

// firstThatWorks tries the sources in turn; tried is what was tried before.
func firstThatWorks(ranking []opener, o Options, tried []Attempt) (Source, Choice, error) {
	c := Choice{Tried: tried}
	for _, p := range ranking {
		s, err := p.open(o)
		c.Tried = append(c.Tried, Attempt{p.name, err})
		if err == nil {
			c.Name, c.Why = p.name, why(c.Tried, p.good)
			o.Log.Info("source opened", "source", c.Name, "why", c.Why)
			return s, c, nil
		}
		o.Log.Debug("source does not work", "source", p.name, "error", err,
			"unsupported", errors.Is(err, errors.ErrUnsupported))
	}
	var errs []error
	for _, a := range c.Tried {
		errs = append(errs, fmt.Errorf("%s: %w", a.Name, a.Err))
	}
	return nil, c, fmt.Errorf("open a source: %w", errors.Join(errs...))
}

// why tells what was tried before the source that works.
func why(tried []Attempt, good string) string {
	var parts []string
	for _, a := range tried {
		if a.Err != nil {
			text, _, _ := strings.Cut(a.Err.Error(), "\n")
			parts = append(parts, fmt.Sprintf("not %s: %s", a.Name, text))
		}
	}
	if len(parts) == 0 {
		return good
	}
	return strings.Join(parts, "; ")
}
