package governor

import (
	"testing"

	"github.com/headroomd/headroomd/classifier"
)

func TestAgentAmong(t *testing.T) {
	tests := []struct {
		name  string
		above *fakeLine
		want  int // pid, 0 none
	}{
		{"none", line("bash: -bash", "sshd: sshd: pi"), 0},
		{"parent", line("claude: claude -p x"), 90},
		{"the nearest", line("sh: sh -c x", "claude: claude", "claude: claude"), 89},
		{"not asked by a shell's name", line("bash: claude"), 0},
		{"no argv", line("claude: "), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := agentAmong(tt.above.up, tt.above, fakeRules{})
			if got.ID.PID != tt.want || ok != (tt.want != 0) {
				t.Errorf("got %d, %v, want %d", got.ID.PID, ok, tt.want)
			}
		})
	}
}

// The families of the rules that are shipped.
func TestIsAgent(t *testing.T) {
	rules := classifier.Builtin()
	for name, want := range map[string]bool{
		"claude": true, "codex": true, "opencode": true, "aider": true, "hermes": true,
		"tmux": false, "pm2": false, "Runner.Worker": false, "npm": false, "bash": false,
	} {
		v := rules.Argv(classifier.Command{Argv: []string{name}})
		if got := isAgent(v); got != want {
			t.Errorf("%s is an agent: %v, want %v (%+v)", name, got, want, v)
		}
	}
}
