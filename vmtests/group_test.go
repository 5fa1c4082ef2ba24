package vmtests

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGroupSelect(t *testing.T) {
	all := []string{"TestMachine", "TestNpm", "TestFaultKill", "TestFaulty"}
	tests := []struct {
		name, group, pattern string
		want                 []string
	}{
		{"the rest", "main", "", []string{"TestMachine", "TestNpm"}},
		{"by prefix", "faults", "", []string{"TestFaultKill", "TestFaulty"}},
		{"narrowed", "main", "Npm", []string{"TestNpm"}},
		{"only the part before the slash names tests", "main", "Npm/Kill", []string{"TestNpm"}},
		{"none", "faults", "Npm", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := slices.IndexFunc(Groups, func(g Group) bool { return g.Name == tt.group })
			got, err := Groups[i].Select(all, tt.pattern)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	if _, err := Groups[0].Select(all, "("); err == nil {
		t.Error("a broken pattern was taken")
	}
}

func TestEveryTestHasOneGroup(t *testing.T) {
	for _, name := range []string{"TestMachine", "TestFaultKill", "Test", "TestÜ"} {
		n := 0
		for _, g := range Groups {
			if got, _ := g.Select([]string{name}, ""); len(got) == 1 {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is in %d groups", name, n)
		}
	}
}

func TestGroupElsewhere(t *testing.T) {
	g := Group{Elsewhere: []string{"TestB", "TestC"}}
	all := []string{"TestA", "TestB", "TestC"}
	if got := g.on("trixie", []string{"TestA"}, all); !slices.Equal(got, []string{"TestA"}) {
		t.Errorf("on the first suite: %q", got)
	}
	if got := g.on("bullseye", []string{"TestA"}, all); !slices.Equal(got, []string{"TestB", "TestC"}) {
		t.Errorf("on another: %q", got)
	}
	for _, g := range Groups {
		for _, name := range g.Elsewhere {
			if !strings.HasPrefix(name, "Test") {
				t.Errorf("%s: %q is no test's name", g.Name, name)
			}
		}
	}
}

func TestGroupArguments(t *testing.T) {
	var g Group
	want := []string{"-test.v=test2json", "-test.run=^(TestA|TestB)$/x/y", "-test.timeout=20m0s"}
	if got := g.Arguments([]string{"TestA", "TestB"}, "Test/x/y", 20*time.Minute, true); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want[1] = "-test.run=^(TestA|TestB)$"
	if got := g.Arguments([]string{"TestA", "TestB"}, "", 20*time.Minute, true); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := g.Arguments([]string{"TestA", "TestB"}, "", 20*time.Minute, false); !slices.Equal(got, append(want, "-test.short")) {
		t.Errorf("got %q, want -test.short at the end", got)
	}
}

func TestParseTestList(t *testing.T) {
	got := parseTestList("TestA\nTestB\nBenchmarkC\nok  \tgithub.com/x\t0.01s\n")
	if want := []string{"TestA", "TestB"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
