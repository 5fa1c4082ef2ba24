package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor/control"
	"github.com/headroomd/headroomd/governor/journal"
)

func TestWrapLine(t *testing.T) {
	const run = "headroomd run --no-lighten -c "
	tests := []struct{ name, line, want string }{
		{"one command", "npm test", run + "'npm test'"},
		{"a pipe", "make -j2 2>&1 | tail -20", run + "'make -j2 2>&1 | tail -20'"},
		{"quotes", "pytest -k 'a or b'", run + `'pytest -k '\''a or b'\'''`},
		{"a directory before", "cd web && npm test", "cd web && " + run + "'npm test'"},
		{"a quoted directory", `cd "my web" && npm test`, `cd "my web" && ` + run + "'npm test'"},
		{"a directory that is expanded", "cd $HOME && npm test", ""},
		{"a directory behind", "npm test; cd web", ""},
		{"a variable that stays", "export CI=1 && npm test", ""},
		{"a variable of the command alone", "CI=1 npm test", run + "'CI=1 npm test'"},
		{"a subshell's directory", "npm ci && (cd web && npm test)", ""},
		{"something that stays in the background", "npm run dev & npm test", ""},
		{"a variable of the shell", "A=1; npm test", ""},
		{"light", "ls", ""},
		{"no shell line", "npm test '", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := wrapLine(classifier.Builtin(), tt.line)
			want, wantOK := tt.want, tt.want != ""
			if !wantOK {
				want = tt.line
			}
			if got != want || ok != wantOK {
				t.Errorf("got %q, %v, want %q, %v", got, ok, want, wantOK)
			}
		})
	}
}

func TestDecision(t *testing.T) {
	// An approval that the user has not given is never given for him.
	for mode, want := range map[string]string{"": "ask", "default": "ask", "acceptEdits": "ask", "plan": "ask", "bypassPermissions": "allow"} {
		if got := decision(mode); got != want {
			t.Errorf("mode %q: %q, want %q", mode, got, want)
		}
	}
}

// What is not understood changes nothing.
func TestHookSaysNothing(t *testing.T) {
	h := &hook{options: hookOptions{wrap: wrapAlways}, now: time.Now()}
	tests := []struct{ name, in string }{
		{"no JSON", "{"},
		{"an array", "[]"},
		{"no event", `{"tool_name":"Bash","tool_input":{"command":"npm test"}}`},
		{"another tool", `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"command":"npm test"}}`},
		{"no command", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`},
		{"a command that is a number", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":1}}`},
		{"light", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -l"}}`},
		{"a run of ours", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"headroomd run -- npm test"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.claudeCode(t.Context(), []byte(tt.in)); got != nil {
				t.Errorf("answered %+v", got)
			}
		})
	}
}

func TestHookKeepsTheRestOfTheInput(t *testing.T) {
	h := &hook{options: hookOptions{wrap: wrapAlways}, now: time.Now()}
	in := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","timeout":600000,"new":{"a":[1]}}}`
	data, err := json.Marshal(h.claudeCode(t.Context(), []byte(in)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeout":600000`, `"new":{"a":[1]}`, `"permissionDecision":"ask"`, `headroomd run --no-lighten -c`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s has no %s", data, want)
		}
	}
}

func TestSessionIsRemembered(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	h := &hook{now: time.Now()}
	file := sessionFile("a-1")
	if file == "" {
		t.Fatal("no file for a session")
	}
	if got := h.load(file); !got.Told.Equal(h.now.Add(-firstLook)) {
		t.Errorf("a new session looks back to %v", got.Told)
	}
	want := session{Told: h.now.Add(-time.Second).UTC(), HeadUp: h.now.Add(-time.Minute).UTC()}
	h.save(file, want)
	if got := h.load(file); !got.Told.Equal(want.Told) || !got.HeadUp.Equal(want.HeadUp) {
		t.Errorf("remembered %+v, want %+v", got, want)
	}
	for _, broken := range []string{"", "{", `{"told":"2999-01-01T00:00:00Z"}`, strings.Repeat("x", 5000)} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := h.load(file); !got.Told.Equal(h.now.Add(-firstLook)) {
			t.Errorf("of %.20q it remembers %+v", broken, got)
		}
	}
	for _, id := range []string{"", "../x", "a/b", strings.Repeat("a", 65)} {
		if got := sessionFile(id); got != "" {
			t.Errorf("session %.10q has the file %q", id, filepath.Base(got))
		}
	}
}

// What died since the last turn is told once in a session, and what is
// another user's never.
func TestHookTellsOnce(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	me, other := uint32(os.Getuid()), uint32(os.Getuid()+1)
	j := journal.New(journal.Options{})
	kill := func(uid uint32, command string, ago time.Duration) {
		j.Add(journal.Record{Time: time.Now().Add(-ago), Event: journal.OOMKill, Job: command, UID: &uid, Command: command, MemoryCapMB: 650})
	}
	kill(me, "npm test", time.Second)
	kill(me, "make old", time.Hour)
	kill(other, "cargo build", time.Second)
	socket := filepath.Join(t.TempDir(), "headroomd.sock")
	server := control.NewServer(socket, fixedState{}, j, nil)
	l, err := server.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	defer func() { cancel(); <-ended }()

	prompt := []byte(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go on"}`)
	answer := func() string {
		h := &hook{options: hookOptions{wrap: wrapNever, socket: socket}, now: time.Now()}
		data, err := json.Marshal(h.claudeCode(t.Context(), prompt))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := answer(); !strings.Contains(got, "`npm test` went over its memory cap of 650 MB") || strings.Contains(got, "make old") || strings.Contains(got, "cargo") {
		t.Errorf("told %s", got)
	}
	if got := answer(); strings.Contains(got, "npm test") {
		t.Errorf("told again: %s", got)
	}
	kill(me, "pytest", 0)
	if got := answer(); !strings.Contains(got, "`pytest` went over") {
		t.Errorf("told %s", got)
	}
}

func TestLossWords(t *testing.T) {
	tests := []struct {
		name   string
		record journal.Record
		want   string
	}{
		{"killed", journal.Record{Event: journal.OOMKill, Command: "npm test", MemoryCapMB: 650, Notes: []string{"Run it with --runInBand."}},
			"`npm test` went over its memory cap of 650 MB and its largest process was killed (usually exit code 137). Nothing else was hurt. To try: Run it with --runInBand."},
		{"refused", journal.Record{Event: journal.Refused, Command: "make", Reason: "it waited for 300 s"}, "`make` was not started (it waited for 300 s)."},
		{"ended", journal.Record{Event: journal.Ended, Command: "make"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.TrimPrefix(lossWords(tt.record), "headroomd: ")
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
