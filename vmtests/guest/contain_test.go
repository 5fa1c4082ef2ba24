package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestContain runs the tests of package contain that move real processes
// against the real managers, each as a subtest. No daemon runs meanwhile.
func TestContain(t *testing.T) {
	InVM(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(filepath.Dir(self), "contain.test")
	list, err := exec.Command(binary, "-test.list", "^TestVM").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	if len(names) < 10 {
		t.Fatalf("%s has the tests %q, want those of a real kernel", binary, names)
	}
	// It restarts the managers and their bus: after it others would ask what is
	// still coming up.
	const last = "TestVMReconnect"
	names = append(slices.DeleteFunc(names, func(name string) bool { return name == last }), last)
	// The services that they killed are no failure of the machine's.
	t.Cleanup(func() { systemctl(t, "reset-failed") })
	for _, name := range names {
		t.Run(strings.TrimPrefix(name, "TestVM"), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^"+name+"$", "-test.v", fmt.Sprintf("-test.short=%v", testing.Short()))
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "HEADROOM_IN_VM=1")
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "--- SKIP") {
				t.Errorf("%v\n%s", err, out)
				return
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "_test.go:") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}
