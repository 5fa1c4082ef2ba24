package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
)

// restartPatience is how long a run waits for a governor that went away while
// it waited: a restart takes a few seconds.
const restartPatience = 15 * time.Second

// runHeavy has the command admitted by the governor that there is, or takes
// turns with this user's others where there is none.
func runHeavy(ctx context.Context, o runOptions, t *task) error {
	c, err := startChild(t.argv)
	if err != nil {
		return err
	}
	w := &waiting{task: t, child: c, teller: newTeller(t.shown, time.Now()), options: o}
	w.signals = make(chan os.Signal, 4)
	signal.Notify(w.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(w.signals)
	var gone time.Time
	for {
		err := w.ask(ctx)
		switch {
		case w.over:
			return err
		case !notRunning(err):
			// It is there and does not take it: nobody's command fails for that.
			fmt.Fprintf(os.Stderr, "headroomd: %s runs without its governor: %v\n", t.shown, err)
			w.letRun()
			return c.await(nil)
		case !w.asked:
			return w.local(ctx)
		case gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > restartPatience:
			return w.local(ctx)
		}
		if stop := w.sleep(500 * time.Millisecond); stop != nil {
			return stop
		}
	}
}

// waiting is a heavy command whose child waits.
type waiting struct {
	*task
	child   *child
	teller  *teller
	options runOptions
	signals chan os.Signal
	asked   bool // a governor took the request, once
	over    bool // the command has run, or will not
}

// ask asks the governor, waits for its turn and then for the command's end. An
// error without w.over says that there is none, or that it went away before
// the command had started.
func (w *waiting) ask(ctx context.Context) error {
	id, err := w.child.id()
	if err != nil {
		return w.ended()
	}
	cwd, _ := os.Getwd()
	request := governor.RunRequest{
		PID: id.PID, Start: id.Start, Argv: w.argv, Line: w.line, Cwd: cwd,
		Family: w.verdict.Family, Rule: w.verdict.Rule, Remedy: w.verdict.Remedy,
		Lightened: w.lightened, Slotless: w.verdict.Kind.Has(classifier.Supervisor), WaitS: w.options.wait.Seconds(),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan governor.RunUpdate)
	answered := make(chan error, 1)
	go func() {
		defer close(updates)
		answered <- ask(w.options.socket, func(c *control.Client) error {
			return c.Run(ctx, request, func(u governor.RunUpdate) error {
				select {
				case updates <- u:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
	}()
	return w.follow(updates, answered)
}

// follow takes the governor's words until the command may run, and then runs
// it.
func (w *waiting) follow(updates <-chan governor.RunUpdate, answered <-chan error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case u, more := <-updates:
			if !more {
				return <-answered
			}
			w.asked = true
			w.result.take(u)
			switch u.State {
			case governor.RunWaiting:
				w.teller.wait(u, time.Now())
			case governor.RunRefused:
				w.result.Note = journal.Escape(u.Why, 400)
				return w.refuse(u)
			case governor.RunPlaced:
				w.teller.started(u.MemoryCapMB, time.Now())
				return w.run(updates)
			}
		case <-tick.C:
			if w.asked {
				w.teller.wait(w.teller.last, time.Now())
			}
		case s := <-w.signals:
			return w.interrupted(s)
		case <-w.child.done:
			return w.ended()
		}
	}
}

// lastWords is how long the last reading of the counters is waited for, after
// the command has ended.
const lastWords = 2 * time.Second

// run lets the child become the command and waits for its end.
func (w *waiting) run(updates <-chan governor.RunUpdate) error {
	w.over = true
	signal.Stop(w.signals)
	w.child.goOn()
	told := make(chan struct{})
	err := w.child.await(func(done <-chan struct{}) {
		defer close(told)
		last := time.Duration(1<<63 - 1)
		for timer := time.NewTimer(last); ; {
			select {
			case u, more := <-updates:
				if !more {
					return
				}
				w.result.take(u)
				if u.State == governor.RunEnded {
					return
				}
			case <-done:
				done = nil
				timer.Reset(lastWords)
			case <-timer.C:
				return
			}
		}
	})
	<-told
	return err
}

// letRun lets the child run although nobody placed it.
func (w *waiting) letRun() {
	w.settled()
	w.teller.clear()
	signal.Stop(w.signals)
	w.child.goOn()
}

// settled ends the wait, in whatever way.
func (w *waiting) settled() {
	w.over = true
	w.result.WaitedS = time.Since(w.teller.since).Seconds()
}

func (w *waiting) refuse(u governor.RunUpdate) error {
	w.settled()
	w.child.abandon()
	w.teller.refused(u, time.Now())
	return exitError{exitRefused, errSaid}
}

// interrupted gives the wait up, as the command itself would have ended.
func (w *waiting) interrupted(s os.Signal) error {
	w.settled()
	w.child.abandon()
	w.teller.clear()
	code := exitFailed
	if n, ok := s.(syscall.Signal); ok {
		code = 128 + int(n)
	}
	w.result.Note = "it was interrupted while it waited, and did not run"
	return exitError{code, errSaid}
}

// ended is for a child that somebody killed while it waited.
func (w *waiting) ended() error {
	w.settled()
	w.child.abandon()
	w.teller.clear()
	w.result.Note = "it was ended while it waited, and did not run"
	return statusOf(w.child.cmd.ProcessState)
}

// sleep waits a moment; an error says that the wait is over.
func (w *waiting) sleep(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case s := <-w.signals:
		return w.interrupted(s)
	case <-w.child.done:
		return w.ended()
	}
}
