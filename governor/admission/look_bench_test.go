package admission

import (
	"fmt"
	"testing"
	"time"
)

// fullBook has 500 waiters of 5 users behind one job.
func fullBook() (*Book, Machine, Limits) {
	var b Book
	b.Hold("running", 0, 544, 544)
	for i := range 500 {
		b.Ask(Waiter{Job: fmt.Sprint("make-", i), User: uint32(i % 5), Since: start.Add(time.Duration(i) * time.Second), Patience: 300 * time.Second, PeakMB: -1})
	}
	return &b, Machine{TotalMB: 1024, AvailableMB: 800}, limitsOf[1024]
}

func BenchmarkLook500Waiting(b *testing.B) {
	book, m, l := fullBook()
	for b.Loop() {
		if starts := book.Look(start, m, l); len(starts) > 0 {
			b.Fatal(starts)
		}
	}
}

// One ends, the next starts, another asks.
func BenchmarkTurn500Waiting(b *testing.B) {
	book, m, l := fullBook()
	running := "running"
	for n := 0; b.Loop(); n++ {
		book.End(running)
		starts := book.Look(start, m, l)
		if len(starts) != 1 {
			b.Fatal(starts)
		}
		running = starts[0].Job
		book.Ask(Waiter{Job: fmt.Sprint("again-", n), User: 7, Since: start, Patience: time.Hour, PeakMB: -1})
	}
}

func BenchmarkStandings500Waiting(b *testing.B) {
	book, m, l := fullBook()
	for b.Loop() {
		if len(book.Standings(start, m, l)) != 500 {
			b.Fatal("not all stand")
		}
	}
}

func BenchmarkStandingOf500Waiting(b *testing.B) {
	book, m, l := fullBook()
	for b.Loop() {
		if _, ok := book.StandingOf("make-499", start, m, l); !ok {
			b.Fatal("it does not wait")
		}
	}
}

func BenchmarkSignature(b *testing.B) {
	argv := []string{"/usr/bin/gcc-13", "-O2", "-Wall", "-Iinclude", "-DNDEBUG", "-c", "src/foo.c", "-o", "build/foo.o"}
	for b.Loop() {
		Signature(argv)
	}
}

// A look costs a step for each user and each start, not one for each waiter:
// none of them is touched as long as no patience is over.
func TestLookDoesNotTouchTheWaiters(t *testing.T) {
	book, m, l := fullBook()
	for job, w := range book.waiting {
		if w != book.turns.head() {
			book.waiting[job] = nil // whoever touches it panics
		}
	}
	if starts := book.Look(start, m, l); len(starts) != 0 {
		t.Fatal(starts)
	}
	book.End("running")
	if starts := book.Look(start, m, l); len(starts) != 1 {
		t.Fatalf("%d start", len(starts))
	}
}
