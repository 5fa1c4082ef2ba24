package classifier

import "testing"

// supervised are programs that run for long and start other work: heavy on a
// line, never captured themselves.
var supervised = []string{
	"claude", "claude -p hi", "claude --resume", "claude -c -p go", "claude --model opus fix",
	"codex", "codex exec hi", "codex e hi", "codex resume --last", "codex --full-auto hi",
	"gemini", "gemini -p hi", "gemini -y", "gemini -m x -p hi",
	"aider", "aider --message hi a.py", "opencode", "opencode run hi", "hermes chat", "hermes chat -q hi",
	"qwen -p hi", "goose run -t hi", "goose session", "crush", "cursor-agent -p hi", "copilot -p hi", "amp -x hi",
	"droid exec hi", "auggie hi", "kilocode", "gptme hi",
	"code .", "code-server", "code-server --bind-addr 0.0.0.0:8080", "cursor .", "codium a.c",
	"chromium", "chromium-browser --kiosk http://localhost", "firefox http://localhost", "google-chrome", "brave-browser",
	"gopls serve", "rust-analyzer", "typescript-language-server --stdio",
	"/home/pi/actions-runner/bin/Runner.Listener run", "buildkite-agent start",
}

// TestSupervised asks for each on the line, as an argument list, and behind a
// carrier.
func TestSupervised(t *testing.T) {
	s := Builtin()
	for _, line := range supervised {
		t.Run(line, func(t *testing.T) {
			for _, l := range []string{line, "cd /srv && " + line, "sudo -u pi nohup " + line + " &", "sh -c '" + line + "'"} {
				if got := s.Line(l); got.Class != Heavy || !got.Kind.Has(Supervisor) {
					t.Errorf("line %q: got %s, kind %b (%s), want a heavy supervisor", l, got.Class, got.Kind, got.Reason)
				}
			}
			for _, prefix := range [][]string{nil, {"timeout", "60"}, {"env", "A=1"}} {
				argv := append(prefix, plainArgv(line)...)
				if got := s.Argv(Command{Argv: argv}); got.Class != Heavy || got.Capture {
					t.Errorf("argv %q: got %s, capture %v, want heavy, not captured", argv, got.Class, got.Capture)
				}
			}
		})
	}
}

// TestKeepers are small programs that keep others running: light themselves, and
// what they are told to run counts.
func TestKeepers(t *testing.T) {
	tests := []struct {
		name, line string
		class      Class
	}{
		{"tmux alone", "tmux", Light},
		{"tmux attaches", "tmux attach -t make", Light},
		{"tmux with a build", "tmux new -d -s x 'make -j2'", Heavy},
		{"tmux with words", "tmux new-session -d -s x npm test", Heavy},
		{"tmux with an agent", "tmux new -d -s a 'claude -p hi'", Heavy},
		{"tmux kills", "tmux kill-session -t npm", Light},
		{"screen alone", "screen -S make", Light},
		{"screen with a build", "screen -dmS b make -j2", Heavy},
		{"pm2 lists", "pm2 ls", Light},
		{"pm2 with a service", "pm2 start dist/server.js --name make", Light},
		{"pm2 with a script", "pm2 start npm --name web -- run build", Heavy},
		{"pm2 with a line", `pm2 start "npm run build" --name b`, Heavy},
		{"supervisord", "supervisord -c /etc/s.conf", Light},
		{"a browser that is driven", "chromium --headless --dump-dom http://x", Heavy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Builtin().Line(tt.line); got.Class != tt.class {
				t.Errorf("%q: got %s (%s), want %s", tt.line, got.Class, got.Reason, tt.class)
			}
			if argv := plainArgv(tt.line); argv != nil {
				got := Builtin().Argv(Command{Argv: argv})
				driven := argv[0] == "chromium"
				if got.Class != tt.class || got.Capture != driven {
					t.Errorf("%q: got %s, capture %v, want %s, capture %v", argv, got.Class, got.Capture, tt.class, driven)
				}
			}
		})
	}
}
