package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestPrintEnv(t *testing.T) {
	all := []variable{{"JOBS", "2", "node-gyp"}, {"GOFLAGS", "-p=2", "go"}}
	set := func(name string) (string, bool) {
		return map[string]string{"GOFLAGS": "-mod=mod\x1b["}[name], name == "GOFLAGS"
	}
	tests := []struct{ form, want string }{
		{"sh", "# node-gyp\nexport JOBS='2'\n"},
		{"fish", "# node-gyp\nset -gx JOBS '2';\n"},
		{"systemd", "# node-gyp\nJOBS=2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.form, func(t *testing.T) {
			var b bytes.Buffer
			printEnv(&b, tt.form, all, set)
			if want := tt.want + "# GOFLAGS is set already: -mod=mod\\x1b[\n"; b.String() != want {
				t.Errorf("got %q, want %q", b.String(), want)
			}
		})
	}
}

func TestVariablesFollowTheMachine(t *testing.T) {
	value := func(all []variable, name string) string {
		for _, v := range all {
			if v.name == name {
				return v.value
			}
		}
		return ""
	}
	small, large := variables(400, 4), variables(100_000, 4)
	if got := value(small, "CARGO_BUILD_JOBS"); got != "1" {
		t.Errorf("400 MB and 4 CPUs: %s jobs, want 1", got)
	}
	if got := value(small, "NODE_OPTIONS"); got != "--max-old-space-size=280" {
		t.Errorf("400 MB: %q", got)
	}
	if got := value(large, "CARGO_BUILD_JOBS"); got != "4" {
		t.Errorf("100 GB and 4 CPUs: %s jobs, want 4", got)
	}
	if got := value(large, "NODE_OPTIONS"); got != "" {
		t.Errorf("with much memory Node is given %q", got)
	}
	for _, v := range large {
		if strings.ContainsAny(v.value, "' \n\\") {
			t.Errorf("%s=%q needs more quoting than it gets", v.name, v.value)
		}
	}
}
