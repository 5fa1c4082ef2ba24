package proc

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Stat
		wrong      bool
	}{
		{
			name: "ordinary",
			text: "812 (npm test) S 811 812 400 34816 812 4194304 1 2 3 4 70 80 5 6 20 0 11 0 54321 1000000 250",
			want: Stat{ID: ID{812, 54321}, Comm: "npm test", State: 'S', PPID: 811, PGID: 812, SID: 400, TTY: 34816, Threads: 11, UTime: 70, STime: 80},
		},
		{
			name: "a comm that looks like the rest of the line",
			text: "7 (a) R 1 () S 3 4 5 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 99 0 0",
			want: Stat{ID: ID{7, 99}, Comm: "a) R 1 (", State: 'S', PPID: 3, PGID: 4, SID: 5, Threads: 1, UTime: 1, STime: 2},
		},
		{
			name: "a comm with newlines and parentheses",
			text: "7 (\n) )\n) Z 3 4 5 0 -1 0 0 0 0 0 1 2 0 0 -2 0 1 0 99 0 0",
			want: Stat{ID: ID{7, 99}, Comm: "\n) )\n", State: 'Z', PPID: 3, PGID: 4, SID: 5, Threads: 1, UTime: 1, STime: 2},
		},
		{
			name: "an empty comm",
			text: "7 () t 3 4 5 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 99 0 0",
			want: Stat{ID: ID{7, 99}, State: 't', PPID: 3, PGID: 4, SID: 5, Threads: 1, UTime: 1, STime: 2},
		},
		{name: "nothing", text: "", wrong: true},
		{name: "cut in the middle", text: "812 (npm) S 811 812", wrong: true},
		{name: "no comm", text: "812 npm S 811", wrong: true},
		{name: "a start that is no number", text: "7 (a) S 3 4 5 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 x 0 0", wrong: true},
		{name: "a pid too large", text: "99999999999 (a) S 3 4 5 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 1 0 0", wrong: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseStat([]byte(tc.text))
			if (err != nil) != tc.wrong {
				t.Fatalf("error %v, wanted one: %v", err, tc.wrong)
			}
			if err == nil && got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestParseCmdline(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"ordinary", "npm\x00test\x00", []string{"npm", "test"}},
		{"empty arguments stay", "sh\x00\x00-c\x00\x00", []string{"sh", "", "-c", ""}},
		{"written over, without a NUL", "npm test", []string{"npm test"}},
		{"one empty argument", "\x00", []string{""}},
		{"newlines are ordinary bytes", "sh\x00-c\x00a\nb\x00", []string{"sh", "-c", "a\nb"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := parseCmdline([]byte(tc.text)); !slices.Equal(got, tc.want) || (got == nil) != (tc.want == nil) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseStatus(t *testing.T) {
	const text = "Name:\ta\\nUid:\t0\nUmask:\t0022\nUid:\t1000\t0\t1000\t1000\nVmSwap:\t      12 kB\nRssAnon:\t    2048 kB\nRssFile:\t    4096 kB\n"
	real, effective, err := parseUIDs([]byte(text))
	if real != 1000 || effective != 0 || err != nil {
		t.Errorf("uids %d, %d, %v; want 1000, 0", real, effective, err)
	}
	for _, wrong := range []string{"", "Uid:\n", "Uid:\t1\n", "Uid:\t4294967296\t0\n", "XUid:\t1\t1\n"} {
		if _, _, err := parseUIDs([]byte(wrong)); err == nil {
			t.Errorf("%q has no uids, yet no error", wrong)
		}
	}
	want := Memory{RssAnon: 2 << 20, RssFile: 4 << 20, RssShmem: -1, Swap: 12 << 10}
	if got := parseMemory([]byte(text)); got != want {
		t.Errorf("memory %+v, want %+v", got, want)
	}
	if got, want := parseMemory(nil), (Memory{-1, -1, -1, -1}); got != want {
		t.Errorf("memory of nothing %+v, want %+v", got, want)
	}
}

func TestParseSmall(t *testing.T) {
	for _, tc := range []struct {
		text  string
		want  int
		wrong bool
	}{
		{"0.20 0.18 0.12 1/80 11206\n", 11206, false},
		{"0.20 0.18 0.12 1/80", 0, true},
		{"0.20 0.18 0.12 1/80 x\n", 0, true},
		{"", 0, true},
	} {
		if got, err := parseLoadavg([]byte(tc.text)); got != tc.want || (err != nil) != tc.wrong {
			t.Errorf("loadavg %q: %d, %v", tc.text, got, err)
		}
	}
	for text, want := range map[string]string{
		"0::/user.slice/a.scope\n":                "/user.slice/a.scope",
		"9:name=systemd:/x\n4:memory:/y\n0::/z\n": "/z",
		"4:memory:/y\n":                           "",
		"":                                        "",
		"0::/gone (deleted)\n":                    "/gone",
		"4:a:/0::/no\n0::/yes":                    "/yes",
	} {
		if got := parseCgroup([]byte(text)); got != want {
			t.Errorf("cgroup %q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]uint32{"1000": 1000, "4294967295": NoLoginUID, "": NoLoginUID, "x": NoLoginUID, "0\n": 0} {
		if got := parseLoginUID([]byte(text)); got != want {
			t.Errorf("loginuid %q: %d, want %d", text, got, want)
		}
	}
	if got, want := parseChildren([]byte("12 13 x 14 ")), []int{12, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("children %v, want %v", got, want)
	}
	for name, want := range map[string]int{"1": 1, "self": 0, "0": 0, "12a": 0, "": 0, "99999999999": 0} {
		if got, ok := parsePID([]byte(name)); ok != (want > 0) || ok && got != want {
			t.Errorf("pid %q: %d, %v", name, got, ok)
		}
	}
	for text, want := range map[string]uint64{"0": 0, "007": 7, "18446744073709551615": math.MaxUint64} {
		if got, ok := number([]byte(text)); !ok || got != want {
			t.Errorf("number %q: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "1x", "18446744073709551616", "99999999999999999999"} {
		if got, ok := number([]byte(text)); ok {
			t.Errorf("number %q: %d", text, got)
		}
	}
}

func TestFindVariable(t *testing.T) {
	environ := []byte("NOT_IT=0\x00IT=1\x00IT=2\x00EMPTY=\x00BARE\x00LAST=x")
	for _, tc := range []struct {
		key, want string
		ok        bool
	}{
		{"IT", "1", true}, {"EMPTY", "", true}, {"BARE", "", false}, {"LAST", "x", true}, {"NONE", "", false}, {"I", "", false},
	} {
		if got, ok := findVariable(environ, tc.key); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %q, %v; want %q, %v", tc.key, got, ok, tc.want, tc.ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("a) R 1 (", int32(3), uint64(99))
	f.Add("", int32(0), uint64(0))
	f.Add("\n) )", int32(1), uint64(1))
	f.Fuzz(func(t *testing.T, comm string, ppid int32, start uint64) {
		ppid &= math.MaxInt32
		start &= math.MaxInt64
		got, err := parseStat([]byte(statLine(7, int(ppid), start, comm, 'S')))
		if err != nil || got.Comm != comm || got.PPID != int(ppid) || got.ID != (ID{7, start}) || got.State != 'S' {
			t.Errorf("comm %q: %+v, %v", comm, got, err)
		}
	})
}

func FuzzParseAnything(f *testing.F) {
	f.Add([]byte(statLine(1, 0, 5, "init", 'S')))
	f.Add([]byte("Name:\tx\nUid:\t1\t2\t3\t4\nRssAnon:\t1 kB\n0::/x\n"))
	f.Add([]byte("0.20 0.18 0.12 1/80 11206\n"))
	f.Add(auxv64(23, 1, 0, 0))
	f.Add([]byte("a\x00b\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parseStat(text)
		parseUIDs(text)
		parseLoadavg(text)
		parseSecure(text)
		parseLoginUID(text)
		appendPIDs(nil, text)
		for _, pid := range parseChildren(text) {
			if pid <= 0 {
				t.Errorf("child %d", pid)
			}
		}
		if m := parseMemory(text); m.RssAnon < -1 || m.RssFile < -1 || m.RssShmem < -1 || m.Swap < -1 {
			t.Errorf("memory %+v", m)
		}
		if path := parseCgroup(text); strings.Contains(path, "\n") {
			t.Errorf("cgroup %q", path)
		}
		if argv := parseCmdline(text); len(text) > 0 {
			joined := strings.Join(argv, "\x00")
			if joined != string(text) && joined+"\x00" != string(text) {
				t.Errorf("argv %q of %q", argv, text)
			}
		}
	})
}
