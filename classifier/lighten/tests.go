package lighten

import "strings"

var (
	jestWorkers       = option{short: "-w", long: []string{"--maxWorkers", "--max-workers"}}
	vitestWorkers     = option{long: []string{"--maxWorkers", "--max-workers"}}
	playwrightWorkers = option{short: "-j", long: []string{"--workers"}}
	xdistJobs         = option{short: "-n", long: []string{"--numprocesses"}, zero: true}

	inBand      = words("-i --runInBand --run-in-band")
	vitestPools = words("--no-file-parallelism --fileParallelism --no-threads --threads --single-thread --minThreads --maxThreads --minWorkers --min-workers")
	vitestRuns  = words("run watch dev related")
	parallel    = words("--parallel -p")
)

// jest runs its tests in the one process that is there already. It refuses
// --runInBand beside --maxWorkers, so a number that is there is lowered instead.
func (p *plan) jest() { p.jestAt(0) }

func (p *plan) jestAt(i int) {
	end := p.end()
	if p.has(inBand, end) || p.lower(jestWorkers, i+1, end, 1, oneWorker) {
		return
	}
	p.add(i, oneWorker, "--runInBand")
}

// reactScripts hands what stands behind "test" to jest.
func (p *plan) reactScripts() {
	if p.text(1) == "test" {
		p.jestAt(1)
	}
}

// vitest knows --maxWorkers and --no-file-parallelism since 1.1. The second is
// put beside the first because until 4 the smallest number of workers was the
// number of CPUs, and it refused to start with a maximum below that.
func (p *plan) vitest() {
	at := 0
	if sub := p.text(1); vitestRuns[sub] {
		at = 1
	} else if sub == "init" || sub == "list" || sub == "bench" {
		return
	}
	end := p.end()
	for _, w := range p.words[1:end] {
		if strings.HasPrefix(w.text, "--poolOptions") || strings.HasPrefix(w.text, "--pool-options") || strings.HasPrefix(w.text, "--browser") {
			return
		}
	}
	if p.has(vitestPools, end) {
		return
	}
	if len(p.uses(vitestWorkers, 1, end)) == 0 {
		p.add(at, oneWorker, "--maxWorkers=1", "--no-file-parallelism")
		return
	}
	said := len(p.said)
	p.lower(vitestWorkers, 1, end, 1, oneWorker)
	if len(p.said) > said {
		p.add(at, oneWorker, "--no-file-parallelism")
	}
}

// mocha runs in one process unless --parallel is there.
func (p *plan) mocha() {
	for _, w := range p.words[1:p.end()] {
		if parallel[w.text] && w.known {
			p.ops = append(p.ops, op{kind: removed, w: w})
			p.say("%s removed (%s)", w.raw, oneWorker)
		}
	}
}

func (p *plan) playwright() {
	if p.text(1) != "test" || p.lower(playwrightWorkers, 2, p.end(), 1, oneWorker) {
		return
	}
	p.add(1, oneWorker, "--workers=1")
}

const noWorkers = "no workers beside pytest itself"

// pytest knows -n only with xdist, so it is touched only where xdist is on. -n 0
// runs all tests in pytest itself, whatever --dist says.
func (p *plan) pytest() {
	if t := p.words[0].text; p.program != "" && strings.HasPrefix(t, "pytest_") {
		return // pytest_watch and the like are found by the same name
	}
	end := p.end()
	for i, w := range p.words[:end] {
		if w.text == "-pno:xdist" || w.text == "no:xdist" && p.text(i-1) == "-p" {
			return
		}
	}
	if p.lower(xdistJobs, 1, end, 0, noWorkers) {
		return
	}
	on := p.r.o.Xdist
	if opts, set := p.r.o.Env("PYTEST_ADDOPTS"); set && !p.r.exported["PYTEST_ADDOPTS"] {
		q := plan{r: p.r}
		for i, f := range strings.Fields(opts) {
			q.words = append(q.words, word{text: f, raw: f, known: true, at: i})
		}
		q.lower(xdistJobs, 0, len(q.words), 0, noWorkers)
		on = on || len(q.ops) > 0
	}
	if on {
		p.add(0, noWorkers, "-n", "0")
	}
}
