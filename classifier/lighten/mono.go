package lighten

import (
	"strconv"
	"strings"
)

var (
	turboJobs = option{long: []string{"--concurrency"}}
	nxJobs    = option{long: []string{"--parallel", "--maxParallel"}, bare: "=", every: 3}
	lernaJobs = option{long: []string{"--concurrency"}}

	turboValues = words("--filter -F --cwd --concurrency --log-order --log-prefix --output-logs --cache-dir --token --team --api --env-mode --cache --profile --summarize")
	turboOther  = words("prune login logout link unlink ls daemon gen generate watch boundaries query scan telemetry config info bin docs")
	nxMany      = words("run-many affected")
)

// stays reports whether a task's name sounds like one that does not end. Such
// tasks wait for each other when they may not all run at once, and the tools
// refuse to start then.
func stays(task string) bool {
	for _, s := range [...]string{"dev", "start", "serve", "watch", "preview", "storybook"} {
		if strings.Contains(task, s) {
			return true
		}
	}
	return false
}

func (p *plan) anyStays() bool {
	for _, w := range p.words[1:] {
		if !w.known || stays(w.text) {
			return true
		}
	}
	return false
}

// turbo runs ten tasks at once.
func (p *plan) turbo() {
	i := p.sub(1, turboValues)
	if i < 0 || turboOther[p.text(i)] || p.anyStays() {
		return
	}
	n, why := p.r.o.Workers, p.r.o.why()
	if p.lower(turboJobs, 1, p.end(), n, why) {
		return
	}
	if p.text(i) == "run" || strings.HasPrefix(p.text(i), "build") || strings.HasPrefix(p.text(i), "test") || p.text(i) == "lint" {
		p.add(i, why, "--concurrency="+strconv.Itoa(n))
	}
}

// nx runs three tasks at once.
func (p *plan) nx() {
	i := p.sub(1, nil)
	if i < 0 || p.anyStays() {
		return
	}
	n, why := p.r.o.Workers, p.r.o.why()
	sub, _, _ := strings.Cut(p.text(i), ":")
	if p.lower(nxJobs, 1, p.end(), n, why) || !nxMany[sub] || n >= nxJobs.every {
		return
	}
	p.add(i, why, "--parallel="+strconv.Itoa(n))
}

// lerna runs a task a CPU.
func (p *plan) lerna() {
	i := p.sub(1, turboValues)
	if i < 0 || p.anyStays() || p.has(words("--parallel"), p.end()) {
		return
	}
	n, why := p.r.o.Workers, p.r.o.why()
	if p.lower(lernaJobs, 1, p.end(), n, why) || p.text(i) != "run" && p.text(i) != "exec" || p.fewer("", n) {
		return
	}
	p.add(i, why, "--concurrency="+strconv.Itoa(n))
}
