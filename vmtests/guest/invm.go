package guest

import (
	"os"
	"testing"
	"time"
)

// marker is made by the image build; nobody has it by accident.
const marker = "/etc/headroom-vm"

// InVM skips the test unless it runs inside a machine of package vmtests.
func InVM(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(marker); err != nil {
		t.Skip("runs inside a virtual machine only: make vmtest")
	}
}

// brief is the number for the everyday run (-short); the long one is for a
// change to what the test is about.
func brief[N any](long, short N) N {
	if testing.Short() {
		return short
	}
	return long
}

// patience is how long an ordinary step may take: a login takes 3 to 6 s under
// emulation, an npm start 5 s, and both ten times as long beside busy loops.
const patience = 90 * time.Second

// Eventually asks until the answer is "" or the time is up; then the test fails
// with the last answer, which says what is still amiss.
func Eventually(t testing.TB, within time.Duration, ask func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		amiss := ask()
		if amiss == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %s", within, amiss)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
