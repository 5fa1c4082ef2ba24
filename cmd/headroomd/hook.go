package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
)

type hookOptions struct {
	wrap   string
	config string
	socket string
}

func newHookCommand() *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use:   "hook {claude-code | generic}",
		Short: "Answer a coding agent's hook: the lighter, governed command",
		Long: `Answer a coding agent's hook, JSON in and JSON out. A heavy command comes back in
a lighter form; where no governor runs it is also wrapped in "headroomd run", so
that it waits for its turn and gets a cap. The agent shows its user what will
run: an approval is never given here, nor taken away.

claude-code   for PreToolUse (matcher "Bash"), UserPromptSubmit and PostToolUse;
              not for runs without a person, where to ask is to be refused
generic       {"command": "…", "cwd": "…", "session": "…"} in;
              {"command": "…", "changed": true, "class": "heavy", "family": "…",
              "changes": […], "cap_mb": 650, "context": "…"} out

It never fails an agent's command: on anything that it does not understand it
says nothing (claude-code) or gives the command back (generic).`,
		Args: func(cmd *cobra.Command, args []string) error {
			kinds := []string{"claude-code", "generic"}
			if len(args) == 1 && (args[0] == kinds[0] || args[0] == kinds[1]) {
				return nil
			}
			if len(args) == 0 {
				return usagef("hook: of which agent? %s", strings.Join(kinds, " or "))
			}
			return usagef("hook: %q is neither %s%s", args[0], strings.Join(kinds, " nor "), meant(nearest(args[0], kinds)))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch o.wrap {
			case wrapAuto, wrapAlways, wrapNever:
			default:
				return usagef("hook: --wrap %q is none of auto, always, never", o.wrap)
			}
			data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxHook+1))
			if err != nil || len(data) > maxHook {
				return nil // an agent's command must not fail for it
			}
			h := &hook{options: o, now: time.Now()}
			out := h.claudeCode
			if args[0] == "generic" {
				out = h.generic
			}
			if answer := out(cmd.Context(), data); answer != nil {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(answer)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.wrap, "wrap", wrapAuto, "wrap heavy commands in \"headroomd run\": `WHEN` is auto (where no governor runs), always or never")
	cmd.Flags().StringVar(&o.config, "config", "", "read the settings from `FILE`")
	socketFlag(cmd, &o.socket)
	return cmd
}

// maxHook bounds what an agent sends: its prompt, or a file that it writes.
const maxHook = 4 << 20

const (
	wrapAuto   = "auto"
	wrapAlways = "always"
	wrapNever  = "never"
)

// hook is one question of an agent.
type hook struct {
	options hookOptions
	now     time.Time
}

// governed is a command as it should run.
type governed struct {
	Command string   `json:"command"`
	Changed bool     `json:"changed"`
	Class   string   `json:"class"`
	Family  string   `json:"family"`
	Changes []string `json:"changes"`
	CapMB   int64    `json:"cap_mb"` // that it would get now; 0 for a light one
}

// govern makes a shell line lighter and wraps it. A line that nothing is known
// of comes back as it was.
func (h *hook) govern(ctx context.Context, line string) governed {
	g := governed{Command: line, Class: string(classifier.Light), Changes: []string{}}
	e, err := newExplainer(ctx, h.options.config, h.options.socket)
	if err != nil || strings.TrimSpace(line) == "" {
		return g
	}
	a := e.line(line)
	g.Class, g.Family = string(a.Class), a.Family
	if a.Class != classifier.Heavy || asksAlready(a) {
		return g
	}
	if a.Cap != nil {
		g.CapMB = a.Cap.MemoryMB
	}
	if a.Lightened != nil && e.config.Lighten {
		g.Command, g.Changes = a.Lightened.Command, a.Lightened.Changes
	}
	if h.wraps(ctx) {
		if wrapped, ok := wrapLine(e.rules, g.Command); ok {
			g.Command = wrapped
			g.Changes = append(g.Changes, "waits for its turn and is capped (headroomd run)")
		}
	}
	g.Changed = g.Command != line
	return g
}

// asksAlready reports whether the line is a run of ours already.
func asksAlready(a answer) bool {
	for _, c := range a.Commands {
		if len(c.Words) > 1 && c.Words[0] == "headroomd" && c.Words[1] == "run" {
			return true
		}
	}
	return false
}

// wraps reports whether the command must ask by itself: a governor that runs
// sees it at its exec.
func (h *hook) wraps(ctx context.Context) bool {
	switch h.options.wrap {
	case wrapAlways:
		return true
	case wrapNever:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := askStatus(ctx, h.options.socket)
	return err != nil || s.Mode != governor.ModeEnforce
}

// generic answers in words of our own.
func (h *hook) generic(ctx context.Context, data []byte) any {
	var in struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Session string `json:"session"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return map[string]any{"error": fmt.Sprintf("the hook's input is no JSON object: %v", err), "changed": false}
	}
	return struct {
		governed
		Context string `json:"context"` // for the model: what it should know; "" for nothing
	}{h.govern(ctx, in.Command), h.context(ctx, in.Session)}
}

var errStop = errors.New("enough")
