package governor

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/pelletier/go-toml/v2"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

func TestResolve(t *testing.T) {
	tests := []struct {
		name    string
		totalMB int64
		config  func(*Config)
		want    admission.Limits
	}{
		{"512 MB", 512, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 128, MinStartMB: 76, CriticalMB: 51}},
		{"1 GB as a board has it", 906, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 226, MinStartMB: 135, CriticalMB: 90}},
		{"1 GB", 1024, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 256, MinStartMB: 192, CriticalMB: 96}},
		{"2 GB", 2048, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 307, MinStartMB: 204, CriticalMB: 102}},
		{"just below 4 GB", 4095, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 614, MinStartMB: 409, CriticalMB: 204}},
		{"4 GB", 4096, nil, admission.Limits{MaxHeavyJobs: 2, ReserveMB: 614, MinStartMB: 409, CriticalMB: 204}},
		{"16 GB", 16384, nil, admission.Limits{MaxHeavyJobs: 4, ReserveMB: 2048, MinStartMB: 1024, CriticalMB: 512}},
		{"64 GB", 65536, nil, admission.Limits{MaxHeavyJobs: 4, ReserveMB: 2048, MinStartMB: 1024, CriticalMB: 512}},
		{"unknown", -1, nil, admission.Limits{MaxHeavyJobs: 1, ReserveMB: 256, MinStartMB: 192, CriticalMB: 96}},
		{"what is set is taken", 1024, func(c *Config) {
			c.MaxHeavyJobs, c.ReserveMB, c.MinStartMB, c.CriticalMB, c.JobMemoryMaxMB, c.SwapMB = 3, 10, 20, 30, 40, -1
		}, admission.Limits{MaxHeavyJobs: 3, ReserveMB: 10, MinStartMB: 20, CriticalMB: 30, JobMemoryMaxMB: 40, SwapMB: -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			if test.config != nil {
				test.config(&c)
			}
			if got := c.Resolve(admission.Machine{TotalMB: test.totalMB}); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// Every field has a key in the table, and every key has a field.
func TestSettingsAreTheFields(t *testing.T) {
	c := Default()
	fields := make(map[any]string)
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		fields[v.Field(i).Addr().Interface()] = v.Type().Field(i).Tag.Get("toml")
	}
	for _, s := range settings {
		if got := fields[s.field(&c)]; got != s.key {
			t.Errorf("%s fills the field with the tag %q", s.key, got)
		}
		delete(fields, s.field(&c))
		if len(s.about) == 0 {
			t.Errorf("%s has no explanation", s.key)
		}
		for _, line := range s.about {
			if len(line) > 86 {
				t.Errorf("%s: %d bytes in the line %q", s.key, len(line), line)
			}
		}
	}
	for _, key := range fields {
		t.Errorf("%s is no setting", key)
	}
	if err := c.Check(); err != nil {
		t.Errorf("the defaults are refused: %s", err)
	}
}

func TestDefaultFile(t *testing.T) {
	const path = "testdata/headroom.toml"
	got := DefaultFile()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says; go test ./governor -run TestDefaultFile -update writes it\n%s", path, got)
	}
	for name, text := range map[string][]byte{
		"as it is":     got,
		"uncommented":  uncomment(got),
		"written back": marshal(t, Default()),
	} {
		c := Config{Mode: "enforce", Source: "perf"}
		if name == "as it is" {
			c = Default()
		}
		if faults := c.decode("x", text); len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: got %+v\nwant %+v", name, c, Default())
		}
	}
}

// uncomment takes the mark off the lines that set something: "#key".
func uncomment(file []byte) []byte {
	lines := strings.Split(string(file), "\n")
	for i, line := range lines {
		if len(line) > 1 && line[0] == '#' && line[1] != ' ' {
			lines[i] = line[1:]
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func marshal(t *testing.T, c Config) []byte {
	t.Helper()
	text, err := toml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLoad(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // below the directory of headroom.toml
		want  func(*Config)
		fails []string // parts of the error, DIR standing for the directory
	}{
		{name: "empty", files: map[string]string{"headroom.toml": ""}, want: func(*Config) {}},
		{
			name:  "all kinds",
			files: map[string]string{"headroom.toml": "mode = \"observe\"\nreserve_mb = 1_000\nmax_heavy_jobs = 2\nwatch = false\nprotect = []\nextra_heavy_patterns = [ '^a\\.py', \"b\" ]\n"},
			want: func(c *Config) {
				c.Mode, c.ReserveMB, c.MaxHeavyJobs, c.Watch = "observe", 1000, 2, false
				c.Protect, c.ExtraHeavyPatterns = []string{}, []string{`^a\.py`, "b"}
			},
		},
		{
			name: "later files win, lists whole, in the order of names",
			files: map[string]string{
				"headroom.toml":            "notes = 'off'\nswap_mb = 1\nprotect = ['a.service', 'b.service']",
				"headroom.toml.d/20.toml":  "swap_mb = 3",
				"headroom.toml.d/10.toml":  "swap_mb = 2\nprotect = ['c.slice']",
				"headroom.toml.d/x.conf":   "nonsense",
				"headroom.toml.d/.30.toml": "nonsense",
			},
			want: func(c *Config) { c.Notes, c.SwapMB, c.Protect = "off", 3, []string{"c.slice"} },
		},
		{
			name:  "unknown key",
			files: map[string]string{"headroom.toml": "mode = 'off'\n\n# x\nmax_heavy_job = 1"},
			fails: []string{`DIR/headroom.toml:4: unknown key "max_heavy_job"; the nearest known one is max_heavy_jobs`},
		},
		{
			name:  "dashes and capitals",
			files: map[string]string{"headroom.toml": "Swap-MB = 1"},
			fails: []string{`:1: unknown key "Swap-MB"; the nearest known one is swap_mb`},
		},
		{
			name:  "swapped letters",
			files: map[string]string{"headroom.toml": "ntoes = 'on'"},
			fails: []string{"is notes"},
		},
		{
			name:  "table",
			files: map[string]string{"headroom.toml": "mode = 'off'\n[queue]\ntimeout = 3\nmode = 'x'"},
			fails: []string{`DIR/headroom.toml:2: unknown key "queue"`},
		},
		{
			name:  "table with the name of a key",
			files: map[string]string{"headroom.toml": "\n[mode]\nx = 3"},
			fails: []string{":2: mode is a table; it wants one of enforce, observe or off"},
		},
		{
			name:  "dotted key",
			files: map[string]string{"headroom.toml": "swap_mb.x = 3"},
			fails: []string{":1: swap_mb is a table; it wants a whole number"},
		},
		{
			name:  "all faults at once, in all files",
			files: map[string]string{"headroom.toml": "mode = 1\nwatch = 'yes'\nreserve_mb = 1.5\nnotes = 'loud'", "headroom.toml.d/a.toml": "\nmod = 'off'"},
			fails: []string{
				"headroom.toml:1: mode is the number 1; it wants one of enforce, observe or off",
				`headroom.toml:2: watch is the string "yes"; it wants true or false`,
				"headroom.toml:3: reserve_mb is the number 1.5; it wants a whole number",
				`headroom.toml:4: notes = "loud" is none of on, terminal or off; the nearest is "on"`,
				`headroom.toml.d/a.toml:2: unknown key "mod"; the nearest known one is mode`,
			},
		},
		{
			name:  "out of range",
			files: map[string]string{"headroom.toml": "swap_mb = -2\nqueue_timeout_s = 0\nreserve_mb = -1\nmax_heavy_jobs = 65"},
			fails: []string{
				":1: swap_mb = -2 is not in the range of -1 to 16777216", ":2: queue_timeout_s = 0 is not in the range of 1 to 86400",
				":3: reserve_mb = -1", ":4: max_heavy_jobs = 65",
			},
		},
		{
			name:  "bad pattern",
			files: map[string]string{"headroom.toml": "extra_heavy_patterns = [\n  'good',\n  'b(ad',\n]"},
			fails: []string{"DIR/headroom.toml:3: extra_heavy_patterns: pattern \"b(ad\": error parsing regexp"},
		},
		{
			name:  "pattern for everything",
			files: map[string]string{"headroom.toml": "exclude_patterns = ['(npm)?']"},
			fails: []string{`:1: exclude_patterns: pattern "(npm)?" matches every command`},
		},
		{
			name:  "number in a list",
			files: map[string]string{"headroom.toml": "exclude_patterns = ['a', 3]"},
			fails: []string{":1: exclude_patterns has the number 3 in its list; it wants strings"},
		},
		{
			name:  "no unit",
			files: map[string]string{"headroom.toml": "protect = ['ssh', '../x.service']"},
			fails: []string{`:1: protect: "ssh" is not the name of a unit`},
		},
		{
			name:  "no TOML",
			files: map[string]string{"headroom.toml": "mode = 'off'\nreserve_mb =\n"},
			fails: []string{"DIR/headroom.toml:2: "},
		},
		{
			name:  "twice",
			files: map[string]string{"headroom.toml": "mode = 'off'\nmode = 'off'"},
			fails: []string{"DIR/headroom.toml:", "mode"},
		},
		{
			name:  "number too large",
			files: map[string]string{"headroom.toml": "\nreserve_mb = 99999999999999999999"},
			fails: []string{"DIR/headroom.toml:2: "},
		},
		{
			name:  "too large",
			files: map[string]string{"headroom.toml": strings.Repeat("#", maxConfigBytes+1)},
			fails: []string{"larger than 256 KB"},
		},
		{name: "missing", files: map[string]string{"x": ""}, fails: []string{"headroom.toml: no such file"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Load(filepath.Join(dir, "headroom.toml"))
			want := Default()
			if test.want != nil {
				test.want(&want)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if len(test.fails) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range test.fails {
				if part = strings.ReplaceAll(part, "DIR", dir); !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q:\n%s", part, err)
				}
			}
		})
	}
}

func TestLoadFaultHasItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.toml")
	if err := os.WriteFile(path, []byte("\n\nmodes = 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	fault, ok := errors.AsType[*ConfigError](err)
	if !ok || fault.File != path || fault.Line != 3 {
		t.Errorf("got %#v", err)
	}
}

func TestLoadMissing(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is missing: got %v, want fs.ErrNotExist", err)
	}
	if os.Geteuid() == 0 {
		if got := DefaultConfigPath(); got != systemConfigPath {
			t.Errorf("DefaultConfigPath as root: got %q", got)
		}
		return
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if got, want := DefaultConfigPath(), filepath.Join(dir, "headroom", "headroom.toml"); got != want {
		t.Errorf("DefaultConfigPath: got %q, want %q", got, want)
	}
	if got, err := Load(""); err != nil || !reflect.DeepEqual(got, Default()) {
		t.Errorf("no file: got %+v, %v", got, err)
	}
}

func TestLoadDoesNotWaitOnFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not an ordinary file") {
		t.Errorf("got %v", err)
	}
}

func TestNearestIsQuick(t *testing.T) {
	start := time.Now()
	nearest(strings.Repeat("reserve_mb", 20_000), keys())
	if took := time.Since(start); took > 100*time.Millisecond {
		t.Errorf("took %s", took)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("mode = 'off'\n[a.b]\nc = [1, {x = 2}]"))
	f.Add([]byte("protect = ['a.service',\n 'x']\nmode.x = 1\n[[mode]]"))
	f.Add(uncomment(DefaultFile()))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		if faults := c.decode("x", data); len(faults) > 0 {
			return
		}
		if err := c.Check(); err != nil {
			t.Errorf("decoded and yet refused: %s", err)
		}
		again := Config{}
		if faults := again.decode("x", marshal(t, c)); len(faults) > 0 || !reflect.DeepEqual(again, c) {
			t.Errorf("written and read: got %+v, %v\nwant %+v", again, faults, c)
		}
	})
}
