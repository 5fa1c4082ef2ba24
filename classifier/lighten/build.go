package lighten

import (
	"strconv"
	"strings"
)

var (
	makeJobs  = option{short: "-j", long: []string{"--jobs"}, bare: "="}
	ninjaJobs = option{short: "-j"}
	cmakeJobs = option{short: "-j", long: []string{"--parallel"}, bare: " "}
	mesonJobs = option{short: "-j", long: []string{"--jobs"}}
	threads   = option{short: "-T", long: []string{"--threads"}}
)

// make runs one job unless it is told otherwise; a bare -j has no bound at all.
func (p *plan) make() {
	n, why := p.r.o.Workers, p.r.o.why()
	if p.lower(makeJobs, 1, p.end(), n, why) || p.makeCluster(n, why) {
		return
	}
	// The command line wins over the environment's MAKEFLAGS. Those among the
	// command's own words are lowered where they stand.
	if flags, ok := p.r.o.Env("MAKEFLAGS"); ok && !p.r.exported["MAKEFLAGS"] {
		for _, v := range p.env {
			if v.name == "MAKEFLAGS" {
				return
			}
		}
		q := plan{r: p.r}
		for i, f := range strings.Fields(flags) {
			q.words = append(q.words, word{text: f, raw: f, known: true, at: i})
		}
		if q.lower(makeJobs, 0, len(q.words), n, why); len(q.ops) > 0 {
			p.add(0, why, jobs(n))
		}
	}
}

// makeCluster lowers a -j at the end of a cluster: -kj8, -sj.
func (p *plan) makeCluster(n int, why string) bool {
	found := false
	for _, w := range p.words[1:p.end()] {
		i := strings.IndexByte(w.text, 'j')
		if i < 2 || w.text[0] != '-' || !w.known || strings.Trim(w.text[1:i], "BbdeikLmnpqrRsStvw") != "" {
			continue
		}
		number := w.text[i+1:]
		have := all
		if number != "" {
			var err error
			if have, err = strconv.Atoi(number); err != nil {
				continue
			}
		}
		found = true
		if have > n {
			next := w.text[:i+1] + strconv.Itoa(n)
			p.change(w, next)
			p.say("%s → %s (%s)", w.raw, next, why)
		}
	}
	return found
}

var ninjaTool = words("-t")

// ninja runs two jobs more than there are CPUs, and for -j0 as many as it likes.
func (p *plan) ninja() {
	n := p.r.o.Workers
	if p.has(ninjaTool, p.end()) || p.lower(ninjaJobs, 1, p.end(), n, p.r.o.why()) {
		return
	}
	p.add(0, p.r.o.why(), jobs(n))
}

// cmake --build hands -j on. Without one Ninja runs a job a CPU and two more,
// Make one: so one is added only where that raises nothing.
func (p *plan) cmake() {
	build := -1
	for i, w := range p.words {
		if w.text == "--build" {
			build = i
			break
		}
	}
	end := p.end()
	if build < 0 || build+1 >= end {
		return
	}
	n, why := p.r.o.Workers, p.r.o.why()
	found := p.lower(cmakeJobs, 1, end, n, why)
	native := p.lower(makeJobs, end, len(p.words), n, why) // behind "--": the build tool's own
	if found || native {
		return
	}
	level, set := p.set("CMAKE_BUILD_PARALLEL_LEVEL")
	if have, err := strconv.Atoi(level); set && (err != nil || have <= n) {
		return
	}
	generator, _ := p.set("CMAKE_GENERATOR")
	if n == 1 || p.r.ninja || strings.HasPrefix(generator, "Ninja") {
		p.add(build+1, why, jobs(n))
	}
}

// ctest runs one test at a time unless it is told otherwise.
func (p *plan) ctest() { p.lower(cmakeJobs, 1, p.end(), p.r.o.Workers, p.r.o.why()) }

// meson compile is ninja.
func (p *plan) meson() {
	if p.text(1) != "compile" || p.lower(mesonJobs, 2, p.end(), p.r.o.Workers, p.r.o.why()) {
		return
	}
	p.add(1, p.r.o.why(), jobs(p.r.o.Workers))
}

var xzAsks = words("-d --decompress --uncompress -l --list -t --test")

// xz takes some 100 MB a thread at -6, and up to 1.3 GB at -9; since 5.6 it
// starts one a CPU by itself.
func (p *plan) xz() {
	end := p.end()
	if p.lower(threads, 1, end, 1, oneWorker) {
		return
	}
	for _, w := range p.words[1:end] {
		i := strings.IndexByte(w.text, 'T')
		if i < 2 || w.text[0] != '-' || w.text[1] == '-' || !w.known || strings.Trim(w.text[1:i], "zkfcveq0123456789") != "" {
			continue
		}
		if n, err := strconv.Atoi(w.text[i+1:]); err == nil && n != 1 {
			next := w.text[:i+1] + "1"
			p.change(w, next)
			p.say("%s → %s (%s)", w.raw, next, oneWorker)
		}
		return
	}
	for _, v := range []string{"XZ_OPT", "XZ_DEFAULTS"} {
		if _, set := p.set(v); set || p.r.exported[v] {
			return
		}
	}
	if !p.has(xzAsks, end) {
		p.add(0, oneWorker, "-T1")
	}
}

func (p *plan) zstd() { p.lower(threads, 1, p.end(), 1, oneWorker) }
