package doctor

import (
	"slices"
	"strings"
	"testing"
)

const small = 90 // critical_mb of the Raspberry Pi

func TestGuards(t *testing.T) {
	// A Pi without swap: what goes by memory alone is seen best there.
	board := raspberry.but(machine{"/proc/meminfo": meminfo(906, 0)})
	swapping := raspberry
	early := func(m machine, args ...string) machine {
		return m.process(412, "earlyoom", 61184, "/system.slice/earlyoom.service", "/usr/bin/earlyoom", append([]string{"/usr/bin/earlyoom"}, args...)...)
	}
	hang := func(conf string) machine {
		return board.process(500, "nohang", 0, "/system.slice/nohang.service", "/usr/bin/python3.11", "/usr/bin/python3", "/usr/sbin/nohang", "--monitor", "--config", "/etc/nohang/nohang.conf").
			but(machine{"/etc/nohang/nohang.conf": conf})
	}
	oomd := func(m machine) machine {
		return m.process(300, "systemd-oomd", 996, "/system.slice/systemd-oomd.service", "/usr/lib/systemd/systemd-oomd", "/usr/lib/systemd/systemd-oomd")
	}
	tests := []struct {
		name    string
		machine machine
		want    string // the guard; "" for none
		at      int64
		first   bool
		says    []string
	}{
		{name: "nobody", machine: board},
		{name: "earlyoom as it comes", machine: early(board, "-r", "3600"), want: "earlyoom", at: 90, first: true,
			says: []string{"earlyoom acts first", "less than 90 MB (10 %)", "below 90 MB", "outside of any job", "-m 4 among the EARLYOOM_ARGS", "systemctl disable --now earlyoom"}},
		{name: "earlyoom with swap", machine: early(swapping), want: "earlyoom", at: 90, first: true, says: []string{"and less than 51 MB of swap is free"}},
		{name: "earlyoom that ignores swap", machine: early(swapping, "-s", "100"), want: "earlyoom", at: 90, first: true, says: []string{"is available, headroomd stops"}},
		{name: "earlyoom after us", machine: early(board, "-m4,2"), want: "earlyoom", at: 36, says: []string{"headroomd acts first, below 90 MB"}},
		{name: "earlyoom by size", machine: early(board, "-gM", "204800,1000", "--prefer", "-m", "-s5"), want: "earlyoom", at: 200, first: true},
		{name: "earlyoom, the lower of both", machine: early(board, "-M", "204800", "-m", "3"), want: "earlyoom", at: 27},
		{name: "earlyoom of root by hand", machine: board.process(9, "earlyoom", 0, "/user.slice/user-0.slice/session-1.scope", "/usr/local/bin/earlyoom", "earlyoom"), want: "earlyoom", at: 90, first: true},

		{name: "earlyoom under OpenRC", machine: early(alpine.but(machine{"/proc/meminfo": meminfo(906, 0)})), want: "earlyoom", at: 90, first: true, says: []string{"rc-service earlyoom stop", "rc-update del earlyoom"}},
		{name: "earlyoom as another unit", machine: board.process(9, "earlyoom", 0, "/system.slice/my-earlyoom.service", "/usr/bin/earlyoom", "earlyoom"), want: "earlyoom", at: 90, first: true, says: []string{"disable --now my-earlyoom"}},
		{name: "earlyoom as an odd unit", machine: board.process(9, "earlyoom", 0, "/system.slice/a$(b).service", "/usr/bin/earlyoom", "earlyoom"), want: "earlyoom", at: 90, first: true, says: []string{"disable --now earlyoom"}},
		{name: "a user's process of that name", machine: board.process(9, "earlyoom", 1000, "/user.slice/user-1000.slice/session-2.scope", "/usr/bin/earlyoom", "earlyoom")},
		{name: "a user's service of that name", machine: board.process(9, "earlyoom", 1000, "/user.slice/user-1000.slice/user@1000.service/app.slice/earlyoom.service", "", "earlyoom")},
		{name: "another service's process of that name", machine: board.process(9, "earlyoom", 33, "/system.slice/apache2.service", "", "earlyoom")},
		{name: "root's program that is called so", machine: board.process(9, "oomd", 0, "/system.slice/other.service", "/usr/bin/sleep", "oomd")},
		{name: "one that was upgraded", machine: board.process(9, "oomd", 0, "/system.slice/oomd.service", "/usr/bin/oomd (deleted)", "oomd"), want: "oomd", at: -1, first: true, says: []string{"by memory pressure"}},
		{name: "one in a container", machine: board.process(9, "earlyoom", 0, "/system.slice/docker-"+strings.Repeat("ab12", 16)+".scope", "/usr/bin/earlyoom", "earlyoom")},

		{name: "nohang as it comes", machine: hang("  words = of a text\nsoft_threshold_min_mem = 5 %\nsoft_threshold_min_swap = 10 %\npsi_checking_enabled = False\n"),
			want: "nohang", at: 45, says: []string{"headroomd acts first"}},
		{name: "nohang by size", machine: hang("soft_threshold_min_mem = 120 M\n"), want: "nohang", at: 120, first: true, says: []string{"nohang acts first", "soft_threshold_min_mem = 4 %"}},
		{name: "nohang by pressure", machine: hang("psi_checking_enabled = True\npsi_metrics = full_avg10\nsoft_threshold_max_psi = \x1b[2J\n"), want: "nohang", at: 45, first: true,
			says: []string{"full_avg10 above 40"}},
		{name: "nohang without its file", machine: hang("gone"), want: "nohang", at: 45, says: []string{"could not be read"}},

		{name: "systemd-oomd that nobody asks", machine: oomd(board), want: "systemd-oomd", at: -1, says: []string{"no unit asks it"}},
		{name: "systemd-oomd of Ubuntu", machine: oomd(swapping).but(machine{
			"/usr/lib/systemd/system/user@.service.d/10-oomd-user-service-defaults.conf": "[Service]\nManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=50%\n"}),
			want: "systemd-oomd", at: -1, first: true, says: []string{"below user@.service when its tasks stand still for memory 50 % of the time"}},
		{name: "systemd-oomd of Fedora", machine: oomd(swapping).but(machine{
			"/usr/lib/systemd/system/-.slice.d/10-oomd-root-slice-defaults.conf": "[Slice]\nManagedOOMSwap=kill\n",
			"/etc/systemd/oomd.conf": "[OOM]\nSwapUsedLimit=80%\n"}),
			want: "systemd-oomd", at: 181, first: true, says: []string{"below -.slice when 80 % of memory and of swap are used"}},
		{name: "systemd-oomd by swap, without any", machine: oomd(board).but(machine{"/usr/lib/systemd/system/-.slice.d/10-oomd-root-slice-defaults.conf": "[Slice]\nManagedOOMSwap=kill\n"}),
			want: "systemd-oomd", at: -1, says: []string{"without swap"}},
		{name: "systemd-oomd that was told not to", machine: oomd(swapping).but(machine{
			"/usr/lib/systemd/system/-.slice.d/10-oomd-root-slice-defaults.conf": "[Slice]\nManagedOOMSwap=kill\n",
			"/etc/systemd/system/-.slice.d/99-mine.conf":                         "[Slice]\nManagedOOMSwap=auto\n"}),
			want: "systemd-oomd", at: -1, says: []string{"no unit asks it"}},
		{name: "systemd-oomd masked by the same name", machine: oomd(swapping).but(machine{
			"/usr/lib/systemd/system/-.slice.d/10-x.conf": "[Slice]\nManagedOOMSwap=kill\n",
			"/etc/systemd/system/-.slice.d/10-x.conf":     "-> /dev/null"}),
			want: "systemd-oomd", at: -1, says: []string{"no unit asks it"}},

		{name: "ananicy-cpp that moves", machine: board.process(7, "ananicy-cpp", 0, "/system.slice/ananicy-cpp.service", "/usr/bin/ananicy-cpp", "ananicy-cpp").
			but(machine{"/etc/ananicy.d/00-types.types": "# \"cgroup\"\n{ \"type\": \"BG_CPUIO\", \"nice\": 19, \"cgroup\": \"cpu80\" }\n"}),
			want: "ananicy-cpp", at: -1, first: true, says: []string{"/etc/ananicy.d/00-types.types", "out of their job"}},
		{name: "ananicy that only renices", machine: board.process(7, "ananicy", 0, "/system.slice/ananicy.service", "/usr/bin/python3.12", "python3", "/usr/bin/ananicy").
			but(machine{"/etc/ananicy.d/00-default/x.rules": "{ \"name\": \"gcc\", \"nice\": 19 }\n"}), want: "ananicy", at: -1, says: []string{"nice, ionice"}},
		{name: "cgrulesengd", machine: board.process(7, "cgrulesengd", 0, "/system.slice/cgred.service", "/usr/sbin/cgrulesengd", "cgrulesengd").
			but(machine{"/etc/cgrules.conf": "# a comment\n@students cpu students/\n"}), want: "cgrulesengd", at: -1, first: true, says: []string{"leaves its job", "systemctl disable --now cgred"}},
		{name: "cgrulesengd without a rule", machine: board.process(7, "cgrulesengd", 0, "/system.slice/cgred.service", "/usr/sbin/cgrulesengd", "cgrulesengd").
			but(machine{"/etc/cgrules.conf": "# a comment\n"}), want: "cgrulesengd", at: -1, says: []string{"moves nothing"}},
		{name: "thrash-protect", machine: board.process(7, "thrash-protect", 0, "/system.slice/thrash-protect.service", "/usr/bin/python3", "python3", "thrash-protect"), want: "thrash-protect", at: -1, first: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := look(Options{Root: tt.machine.at(t), Limits: &Limits{CriticalMB: small}})
			guards := f.guards()
			if tt.want == "" {
				if len(guards) > 0 {
					t.Fatalf("found %+v", guards)
				}
				return
			}
			if len(guards) != 1 || guards[0].Name != tt.want {
				t.Fatalf("found %+v, want %s", guards, tt.want)
			}
			g := guards[0]
			if g.ActsAtMB != tt.at || g.First != tt.first || g.PID == 0 || g.Note == "" {
				t.Errorf("%+v; want at %d MB, first %v", g, tt.at, tt.first)
			}
			all := strings.Join(append([]string{g.Note, g.Remedy}, g.Commands...), " | ")
			for _, part := range tt.says {
				if !strings.Contains(all, part) {
					t.Errorf("it does not say %q: %s", part, all)
				}
			}
			if strings.ContainsRune(all, 0x1b) {
				t.Errorf("another's bytes: %q", all)
			}
			c := checkNamed(t, Examine(Options{Root: f.o.Root, Limits: f.o.Limits}), "guard-"+tt.want)
			if want := map[bool]State{true: Warn, false: OK}[tt.first]; c.State != want {
				t.Errorf("the check is %s, want %s", c.State, want)
			}
		})
	}
}

// TestWhoIsFirst: those that act before headroomd come first, the earliest of
// them at the top; of one name there is one.
func TestWhoIsFirst(t *testing.T) {
	m := raspberry.
		process(2, "cgrulesengd", 0, "/system.slice/cgred.service", "/usr/sbin/cgrulesengd", "cgrulesengd").
		process(3, "nohang", 0, "/system.slice/nohang.service", "/usr/bin/python3", "nohang").
		process(4, "earlyoom", 0, "/system.slice/earlyoom.service", "/usr/bin/earlyoom", "earlyoom", "-m", "20").
		process(5, "earlyoom", 0, "/system.slice/earlyoom.service", "/usr/bin/earlyoom", "earlyoom", "-m", "1")
	var names []string
	for _, g := range Guards(m.at(t), small) {
		names = append(names, g.Name)
	}
	if want := []string{"earlyoom", "cgrulesengd", "nohang"}; !slices.Equal(names, want) {
		t.Errorf("in the order %q, want %q", names, want)
	}
}

// TestGuardOfUnknownMemory: where nothing is known nothing is promised.
func TestGuardOfUnknownMemory(t *testing.T) {
	m := raspberry.but(machine{"/proc/meminfo": "gone"}).process(4, "earlyoom", 0, "/system.slice/earlyoom.service", "", "earlyoom")
	g := Guards(m.at(t), -1)
	if len(g) != 1 || g[0].ActsAtMB != -1 || !g[0].First {
		t.Errorf("guards %+v", g)
	}
}
