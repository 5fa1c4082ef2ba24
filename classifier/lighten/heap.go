package lighten

import (
	"fmt"
	"strconv"
	"strings"
)

// heapFlags are V8's two spellings. It takes the last one that it is given.
var heapFlags = option{long: []string{"--max-old-space-size", "--max_old_space_size"}}

// notNode are programs of Node's families that no V8 flag of Node reaches.
var notNode = words("bun bunx deno esbuild biome oxlint rome swc rolldown rspack nvm fnm volta n")

// nodeToo are programs of Node in other families.
var nodeToo = words("playwright cypress puppeteer")

var managers = words("npm npx pnpm pnpx yarn yarnpkg")

// agents are packages of coding agents. One lives for days, and what it runs
// would inherit its heap.
var agents = []string{"claude-code", "@openai/codex", "gemini-cli", "opencode", "@sourcegraph/amp", "@qwen-code", "@github/copilot", "crush", "openclaw", "cline"}

// nodeFlags lowers a heap that node itself is given among its own options.
func (p *plan) nodeFlags() {
	mb := p.r.o.heapMB()
	tool := name(p.words[0].text)
	if mb == 0 || tool != "node" && tool != "nodejs" && tool != "tsx" {
		return
	}
	script := 1
	for script < len(p.words) && (strings.HasPrefix(p.words[script].text, "-") || isNumber(p.words[script])) {
		script++
	}
	p.name = tool
	if p.lower(heapFlags, 1, script, mb, p.heapWhy()) {
		p.heaped = true
	}
}

func (p *plan) heapWhy() string { return fmt.Sprintf("%d %% of %d MB", heapPercent, p.r.o.CapMB) }

// heap bounds the heap of a Node tool by NODE_OPTIONS, where that reaches it.
func (p *plan) heap() {
	mb := p.r.o.heapMB()
	if mb == 0 || p.heaped || !p.node() {
		return
	}
	for _, v := range p.env {
		if v.name == "NODE_OPTIONS" {
			p.heapIn(v)
			return
		}
	}
	if p.front == nil || p.r.exported["NODE_OPTIONS"] {
		return
	}
	old, _ := p.r.o.Env("NODE_OPTIONS")
	next, say := p.bounded(old)
	if next == old {
		return
	}
	if p.src != nil {
		if _, ok := quote(next, p.src.banned); !ok {
			return // the workers may be fewer all the same
		}
	}
	p.ops = append(p.ops, op{before, *p.front, []string{"NODE_OPTIONS=" + next}})
	p.said = append(p.said, say)
}

// node reports whether the command is a program that runs in Node.
func (p *plan) node() bool {
	if notNode[p.name] {
		return false
	}
	if nodeToo[p.name] {
		return true
	}
	for _, w := range p.words {
		for _, agent := range agents {
			if strings.Contains(w.text, agent) {
				return false
			}
		}
	}
	if managers[p.name] {
		return true // whatever its script runs, the manager itself is Node
	}
	return strings.HasPrefix(p.r.set.Argv(p.asked(p.texts(p.words, p.program))).Family, "node-")
}

// heapIn bounds the heap in a value that the line gives to NODE_OPTIONS.
func (p *plan) heapIn(v variable) {
	old := v.value()
	next, say := p.bounded(old)
	if p.r.o.heapMB() == 0 || next == old {
		return
	}
	raw := v.word.raw
	added, appends := strings.CutPrefix(next, strings.TrimSpace(old)+" ")
	switch {
	case v.word.known && strings.TrimSpace(old) == "":
		p.swap(v, next)
		p.said = append(p.said, say)
		return
	case !appends:
		var ok bool
		oldToken, newToken := differ(old, next)
		if raw, ok = swapToken(raw, oldToken, newToken); !ok {
			return
		}
	case strings.HasSuffix(raw, `"`) || strings.HasSuffix(raw, "'"):
		raw = strings.TrimRight(raw[:len(raw)-1], " ") + " " + added + raw[len(raw)-1:]
	case v.word.known:
		p.swap(v, next)
		p.said = append(p.said, say)
		return
	default:
		return
	}
	p.ops = append(p.ops, op{swapped, v.word, []string{raw}})
	p.said = append(p.said, say)
}

// differ returns the first field in which two values differ.
func differ(old, next string) (string, string) {
	a, b := strings.Fields(old), strings.Fields(next)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i]
		}
	}
	return "", ""
}

// bounded is a value of NODE_OPTIONS with a bounded heap: a larger one lowered,
// or one added, and the words that say so. A smaller one is left.
func (p *plan) bounded(old string) (next, say string) {
	mb := p.r.o.heapMB()
	fields := strings.Fields(old)
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		if strings.HasPrefix(f, "--max-old-space-size-percentage") {
			return old, ""
		}
		flag, number, ok := strings.Cut(f, "=")
		if flag != heapFlags.long[0] && flag != heapFlags.long[1] {
			continue
		}
		have, err := strconv.Atoi(number)
		if !ok || err != nil || have <= mb {
			return old, ""
		}
		lower, at := fmt.Sprintf("%s=%d", flag, mb), strings.LastIndex(old, f)
		return old[:at] + lower + old[at+len(f):], fmt.Sprintf("NODE_OPTIONS: %s → %s (%s)", short(f), lower, p.heapWhy())
	}
	why := p.heapWhy()
	if mb > maxHeapMB {
		why = fmt.Sprintf("Node's own limit on a large machine, below %s", why)
	}
	size := fmt.Sprintf("%s=%d", heapFlags.long[0], min(mb, maxHeapMB))
	return strings.TrimSpace(strings.TrimSpace(old) + " " + size), fmt.Sprintf("NODE_OPTIONS: %s added (%s)", size, why)
}
