package watchdog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const meminfo = `MemTotal:         927424 kB
MemFree:           80000 kB
MemAvailable:     512000 kB
SwapTotal:        102396 kB
SwapFree:         100000 kB
HugePages_Total:       0
`

const pressure = `some avg10=1.50 avg60=0.21 avg300=0.99 total=8537362
full avg10=0.25 avg60=0.13 avg300=0.96 total=8183134
`

const swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

func TestRead(t *testing.T) {
	psi := &Pressure{Some: Stall{1.5, 8537362}, Full: Stall{0.25, 8183134}}
	usual := Reading{MemTotal: 927424 << 10, MemAvailable: 512000 << 10, SwapTotal: 102396 << 10, SwapFree: 100000 << 10, PSI: psi}
	with := func(change func(*Reading)) Reading {
		r := usual
		change(&r)
		return r
	}
	tests := []struct {
		name  string
		files map[string]string
		want  Reading
		fails string
	}{
		{name: "usual", files: map[string]string{"proc/meminfo": meminfo, "proc/pressure/memory": pressure}, want: usual},
		{name: "no PSI", files: map[string]string{"proc/meminfo": meminfo}, want: with(func(r *Reading) { r.PSI = nil })},
		{
			name:  "PSI without a full line",
			files: map[string]string{"proc/meminfo": meminfo, "proc/pressure/memory": strings.SplitAfter(pressure, "\n")[0]},
			want:  with(func(r *Reading) { r.PSI = nil }),
		},
		{
			name:  "no MemAvailable",
			files: map[string]string{"proc/meminfo": "MemTotal: 927424 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", "proc/pressure/memory": pressure},
			want:  with(func(r *Reading) { r.MemAvailable, r.SwapTotal, r.SwapFree = Unknown, 0, 0 }),
		},
		{
			name:  "a kernel without swap",
			files: map[string]string{"proc/meminfo": "MemTotal: 927424 kB\nMemAvailable: 512000 kB\n", "proc/pressure/memory": pressure},
			want:  with(func(r *Reading) { r.SwapTotal, r.SwapFree = Unknown, Unknown }),
		},
		{
			name: "zram and a disk",
			files: map[string]string{
				"proc/meminfo": meminfo, "proc/pressure/memory": pressure,
				"proc/swaps":                  swaps + "/dev/zram0                              partition\t51196\t\t0\t\t100\n/swapfile                               file\t\t51200\t\t0\t\t-2\n",
				"sys/block/zram0/disksize":    "52428800\n",
				"sys/block/zram0/mm_stat":     " 8388608  2000000  2097152        0  2097152        0        0        0        0\n",
				"sys/block/zram1/disksize":    "52428800\n",
				"sys/block/zram1/mm_stat":     "1 1 1\n",
				"sys/block/swapfile/disksize": "1\n",
			},
			want: with(func(r *Reading) { r.Zram = Zram{Total: 52428800, Stored: 8388608, Physical: 2097152} }),
		},
		{
			name: "zram that cannot be read",
			files: map[string]string{
				"proc/meminfo": meminfo, "proc/pressure/memory": pressure,
				"proc/swaps":               swaps + "/dev/zram0 partition 51196 0 100\n/dev/zram1 partition 51196 0 100\n",
				"sys/block/zram0/disksize": "many\n",
				"sys/block/zram1/disksize": "52428800\n",
				"sys/block/zram1/mm_stat":  "1 -2\n",
			},
			want: usual,
		},
		{name: "nothing", files: map[string]string{"proc/x": ""}, fails: "read meminfo"},
		{name: "empty meminfo", files: map[string]string{"proc/meminfo": ""}, fails: "no MemTotal"},
		{name: "nonsense in meminfo", files: map[string]string{"proc/meminfo": "MemTotal: many kB\n"}, fails: "read meminfo"},
		{
			name:  "nonsense in the pressure",
			files: map[string]string{"proc/meminfo": meminfo, "proc/pressure/memory": "some avg10=x\n"},
			fails: "read memory pressure",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r, err := NewReader(root)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Read()
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v, want an error with %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (got.PSI == nil) != (test.want.PSI == nil) || got.PSI != nil && *got.PSI != *test.want.PSI {
				t.Errorf("PSI: got %+v, want %+v", got.PSI, test.want.PSI)
			}
			got.PSI, test.want.PSI = nil, nil
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestReadHere(t *testing.T) {
	r, err := NewReader("/")
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got.MemTotal <= 0 || got.MemAvailable <= 0 || got.MemAvailable > got.MemTotal {
		t.Errorf("got %+v", got)
	}
}

func TestNewReaderWithoutProc(t *testing.T) {
	if _, err := NewReader(t.TempDir()); err == nil {
		t.Error("no error")
	}
}

func TestLevel(t *testing.T) {
	lines := Lines{ReserveMB: 256, CriticalMB: 96}
	tests := []struct {
		name      string
		available int64
		want      Level
		word      string
	}{
		{"unknown", Unknown, NotKnown, "unknown"},
		{"nothing", 0, Critical, "critical"},
		{"below the critical line", 96<<20 - 1, Critical, "critical"},
		{"at the critical line", 96 << 20, Tight, "tight"},
		{"below the reserve", 256<<20 - 1, Tight, "tight"},
		{"at the reserve", 256 << 20, Calm, "calm"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Reading{MemAvailable: test.available}.Level(lines)
			if got != test.want || got.String() != test.word {
				t.Errorf("got %v, want %s", got, test.word)
			}
		})
	}
}

func FuzzMMStat(f *testing.F) {
	f.Add("1 2 3")
	f.Add(" 8388608  2000000  2097152 0 2097152 0 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		stored, physical, ok := parseMMStat(text)
		if stored < 0 || physical < 0 || !ok && (stored != 0 || physical != 0) {
			t.Errorf("%q: got %d, %d, %v", text, stored, physical, ok)
		}
	})
}
