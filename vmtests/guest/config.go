package guest

import (
	"os"
	"path/filepath"
	"testing"
)

// WriteConfig puts settings in the place where the daemon reads them at its
// next start, until the end of the test.
func WriteConfig(t testing.TB, text string) {
	t.Helper()
	const file = "/etc/headroom/headroom.toml.d/99-vmtests.toml"
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file) })
}
