package guest

import (
	"strings"
	"testing"
	"time"
)

// TestQueueWaits: commands that wait for each other in every way that people
// have them wait. A queue that held the wrong one would hang them for ever;
// each may take at most 10 s longer than it takes without the governor.
func TestQueueWaits(t *testing.T) {
	InVM(t)
	for _, name := range []string{"make", "ninja", "cargo", "xz", "gcc", "npm"} {
		InstallC(t, "pi", "hog", "waits/"+name)
	}
	a, b := Login(t, "pi"), Login(t, "pi")
	a.Must("cd ~/waits")
	b.Must("cd ~/waits")
	tests := []struct {
		name  string
		first string // typed in one session
		then  string // typed in another, when the first runs; "" for none
		long  bool   // of the long run alone: another is of its kind
	}{
		{name: "Pipe", first: "./make 8 write 300 | ./xz 8 read"},
		{name: "PipeOfTimeouts", first: "timeout 60 ./make 8 write 300 | timeout 60 ./xz 8 read", long: true},
		{name: "PipeThroughLight", first: "timeout 60 ./make 8 write 300 | tee /dev/null | timeout 60 ./xz 8 read"},
		{name: "Lock", first: "flock lock ./make 8 after 3 0", then: "flock lock ./ninja 8 after 2 0"},
		{name: "ServerFirst", first: "rm -f up; ./npm 8 create up & ./ninja 8 await up; kill %1; wait"},
		{name: "ServerFirstApart", first: "rm -f up; setsid -f ./npm 8 create up", then: "./ninja 8 await up", long: true},
		{name: "TestFirst", first: "rm -f up; setsid -w ./ninja 8 await up", then: "setsid -f ./npm 8 create up; sleep 1"},
		{name: "Xargs", first: "seq 8 | xargs -P4 -I{} ./gcc 8 after 1 0", long: true},
		{name: "Script", first: "bash -c './make 8 after 2 0 & ./ninja 8 after 3 0 & wait'"},
		{name: "Fifo", first: "rm -f fifo; mkfifo fifo; ./make 8 write 300 >fifo", then: "./xz 8 read <fifo", long: true},
		{name: "IdleHolder", first: "setsid -f ./make 8 hold", then: "./ninja 8 after 2 0"},
		{name: "Timeout", first: "setsid -f ./make 8 burn 30 0", then: "timeout 40 ./ninja 8 after 2 0"},
	}
	if testing.Short() {
		kept := tests[:0]
		for _, tt := range tests {
			if !tt.long {
				kept = append(kept, tt)
			}
		}
		tests = kept
	}
	run := func(t *testing.T, first, then string, d *Daemon) time.Duration {
		t.Helper()
		a.Use(t)
		b.Use(t)
		start := time.Now()
		a.Send(first + "\n")
		if then != "" {
			time.Sleep(time.Second)
			start = time.Now()
			if out, status := b.RunWithin(2*patience, then); status != 0 {
				t.Errorf("%s ends with %d\n%s", then, status, out)
			}
		}
		if out, status := a.Wait(2 * patience); status != 0 {
			t.Errorf("%s ends with %d\n%s", first, status, out)
		}
		took := time.Since(start)
		a.Run("pkill -f '^./(make|ninja|npm) 8'; true")
		return took
	}
	without := map[string]time.Duration{}
	for _, tt := range tests {
		without[tt.name] = run(t, tt.first, tt.then, nil)
	}
	d := Daemon{}.Start(t)
	var took []string
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.Use(t)
			with := run(t, tt.first, tt.then, d)
			took = append(took, tt.name+" "+without[tt.name].Round(100*time.Millisecond).String()+" → "+with.Round(100*time.Millisecond).String())
			// 5 s more than the 10 s are for what placing takes here: each
			// heavy command of a line costs some 300 ms under emulation, twice that held.
			if with > without[tt.name]+15*time.Second {
				t.Errorf("it took %v, and %v without the governor", with, without[tt.name])
			}
			d.AwaitIdle()
			AwaitNoScopes(t)
		})
	}
	t.Log(strings.Join(took, "; "))

	t.Run("HolderStopped", func(t *testing.T) {
		d.Use(t)
		a.Use(t)
		b.Use(t)
		before := len(d.Events())
		a.Send("./make 8 hold\n")
		d.AwaitRunning("make 8", before)
		a.Send("\x1a")
		a.Wait(patience)
		start := time.Now()
		if out, status := b.RunWithin(2*patience, "./ninja 8 after 1 0"); status != 0 {
			t.Errorf("status %d\n%s", status, out)
		}
		if took := time.Since(start); took > 25*time.Second {
			t.Errorf("behind a stopped command it took %v", took)
		}
		a.Run("kill -KILL %1; wait; true")
		d.AwaitIdle()
	})
}
