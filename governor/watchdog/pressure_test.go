package watchdog

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadPressure(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, text string
		want       *Pressure
		fails      bool
	}{
		{"usual", pressure, &Pressure{Some: Stall{1.5, 8537362}, Full: Stall{0.25, 8183134}}, false},
		{"of a cgroup without full", "some avg10=1.00 avg60=0 avg300=0 total=1\n", nil, true},
		{"no number", "some avg10=x total=1\nfull avg10=0 total=0\n", nil, true},
		{"negative", "some avg10=0 total=-1\nfull avg10=0 total=0\n", nil, true},
		{"empty", "", nil, true},
	}
	for _, test := range tests {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := ReadPressure(path)
		if (err != nil) != test.fails || (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("%s: got %+v, %v", test.name, got, err)
		}
	}
	if got, err := ReadPressure(filepath.Join(dir, "none")); got != nil || err != nil {
		t.Errorf("no file: got %+v, %v", got, err)
	}
}
