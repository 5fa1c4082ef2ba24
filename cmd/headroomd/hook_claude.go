package main

import (
	"context"
	"encoding/json"
	"strings"
)

// claudeInput is what Claude Code sends to a hook, as far as it matters here.
type claudeInput struct {
	Event     string                     `json:"hook_event_name"`
	Session   string                     `json:"session_id"`
	Mode      string                     `json:"permission_mode"`
	Tool      string                     `json:"tool_name"`
	ToolInput map[string]json.RawMessage `json:"tool_input"`
}

// claudeOutput is the answer; its fields are Claude Code's.
type claudeOutput struct {
	Specific claudeSpecific `json:"hookSpecificOutput"`
}

type claudeSpecific struct {
	Event    string                     `json:"hookEventName"`
	Decision string                     `json:"permissionDecision,omitempty"`
	Reason   string                     `json:"permissionDecisionReason,omitempty"`
	Input    map[string]json.RawMessage `json:"updatedInput,omitempty"`
	Context  string                     `json:"additionalContext,omitempty"`
}

// claudeCode answers Claude Code; nil is an empty answer, which changes
// nothing.
func (h *hook) claudeCode(ctx context.Context, data []byte) any {
	var in claudeInput
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	switch in.Event {
	case "PreToolUse":
		return h.claudeBefore(ctx, in)
	case "UserPromptSubmit", "PostToolUse", "SessionStart":
		if text := h.context(ctx, in.Session); text != "" {
			return claudeOutput{claudeSpecific{Event: in.Event, Context: text}}
		}
	}
	return nil
}

func (h *hook) claudeBefore(ctx context.Context, in claudeInput) any {
	var line string
	if in.Tool != "Bash" || json.Unmarshal(in.ToolInput["command"], &line) != nil {
		return nil
	}
	g := h.govern(ctx, line)
	if !g.Changed {
		return nil
	}
	command, err := json.Marshal(g.Command)
	if err != nil {
		return nil
	}
	in.ToolInput["command"] = command // the rest is given back as it came
	return claudeOutput{claudeSpecific{
		Event: in.Event, Decision: decision(in.Mode), Input: in.ToolInput,
		Reason: "headroomd: " + strings.Join(g.Changes, "; "),
	}}
}

// decision goes with the changed input, which is not taken without one. "ask"
// shows the user what will run. Where the user has said that nothing is to be
// asked, asking would be to refuse; "allow" then allows no more than he has.
func decision(mode string) string {
	if mode == "bypassPermissions" {
		return "allow"
	}
	return "ask"
}
