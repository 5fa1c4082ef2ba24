package lighten

import (
	"strconv"
	"strings"
)

var (
	cargoJobs   = option{short: "-j", long: []string{"--jobs"}}
	nextestJobs = option{short: "-j", long: []string{"--test-threads", "--jobs", "--build-jobs"}}
	goJobs      = option{short: "-p", long: []string{"--p"}, plain: true}
	gradleJobs  = option{long: []string{"--max-workers"}}
	mavenJobs   = option{short: "-T", long: []string{"--threads"}}
	dotnetJobs  = option{short: "-m", long: []string{"-maxcpucount", "--maxcpucount", "/maxcpucount", "/m", "-maxCpuCount", "/maxCpuCount"}, bare: ":", colon: true}

	cargoValues = words("--color --config -Z -C --manifest-path --target-dir --lockfile-path")
	cargoBuilds = words("build b check c test t bench run r rustc doc d rustdoc install fix clippy package publish")
	goBuilds    = words("build test vet install run")
	dotnetRuns  = words("build publish pack restore test")
	gradleOwn   = words("-Dorg.gradle.workers.max")
)

// cargo compiles a crate a CPU.
func (p *plan) cargo() {
	i := p.sub(1, cargoValues)
	if i < 0 {
		return
	}
	n, why := p.r.o.Workers, p.r.o.why()
	sub := p.text(i)
	if sub == "nextest" {
		p.nextest(i)
		return
	}
	if !cargoBuilds[sub] || p.lower(cargoJobs, i+1, p.end(), n, why) || p.fewer("CARGO_BUILD_JOBS", n) {
		return
	}
	p.add(i, why, "-j", strconv.Itoa(n))
}

// nextest has -j for the tests, and --build-jobs for what cargo's -j is.
func (p *plan) nextest(i int) {
	n, why := p.r.o.Workers, p.r.o.why()
	if p.text(i+1) != "run" {
		return
	}
	p.lower(nextestJobs, i+2, p.end(), n, why)
	if !p.has(words("--build-jobs"), p.end()) && !p.fewer("CARGO_BUILD_JOBS", n) {
		p.add(i+1, why, "--build-jobs", strconv.Itoa(n))
	}
}

// fewer reports whether nothing need be added to a program that runs a worker a
// CPU: there are no more CPUs than n, or a variable has a bound already.
func (p *plan) fewer(variable string, n int) bool {
	if p.r.o.CPUs > 0 && p.r.o.CPUs <= n || p.r.exported[variable] {
		return true
	}
	for _, v := range p.env {
		if v.name == variable {
			return true // a larger number is lowered where it stands
		}
	}
	text, ok := p.set(variable)
	have, err := strconv.Atoi(text)
	return ok && (err != nil || have <= n && have > 0)
}

// golang compiles a package a CPU, and tests as many. -C must stay the first of
// its options.
func (p *plan) golang() {
	i := p.sub(1, words("-C"))
	n, why := p.r.o.Workers, p.r.o.why()
	if i < 0 || !goBuilds[p.text(i)] {
		return
	}
	sub := p.text(i)
	if p.text(i+1) == "-C" {
		i += 2
	} else if strings.HasPrefix(p.text(i+1), "-C=") {
		i++
	}
	if i >= len(p.words) {
		return
	}
	if len(p.uses(goJobs, i+1, len(p.words))) > 0 {
		// Behind `go run`'s program, and behind -args, it is the program's.
		if sub != "run" && !p.has(words("-args --args"), len(p.words)) {
			p.lower(goJobs, i+1, p.end(), n, why)
		}
		return
	}
	if flags, ok := p.set("GOFLAGS"); ok && strings.Contains(flags, "-p") || p.fewer("", n) || p.r.exported["GOFLAGS"] {
		return
	}
	p.add(i, why, "-p", strconv.Itoa(n))
}

// gradle starts a worker a CPU, --parallel or not: the number bounds both.
func (p *plan) gradle() {
	n, why := p.r.o.Workers, p.r.o.why()
	if p.lower(gradleJobs, 1, p.end(), n, why) || p.has(gradleOwn, p.end()) || p.fewer("", n) {
		return
	}
	p.add(0, why, "--max-workers="+strconv.Itoa(n))
}

// maven builds one module at a time unless -T is there.
func (p *plan) maven() { p.lower(mavenJobs, 1, p.end(), p.r.o.Workers, p.r.o.why()) }

// dotnet hands -m:N to MSBuild, which by dotnet's own default starts a node a
// CPU. `dotnet run` would hand it to the program, `dotnet test x.dll` to another
// tool.
func (p *plan) dotnet() {
	n, why := p.r.o.Workers, p.r.o.why()
	if p.text(1) == "msbuild" {
		p.lower(dotnetJobs, 2, p.end(), n, why)
		return
	}
	if !dotnetRuns[p.text(1)] {
		return
	}
	for _, w := range p.words[2:] {
		if strings.HasSuffix(w.text, ".dll") || strings.HasSuffix(w.text, ".exe") {
			return
		}
	}
	if p.lower(dotnetJobs, 2, p.end(), n, why) || p.fewer("", n) {
		return
	}
	p.add(1, why, "-m:"+strconv.Itoa(n))
}

func (p *plan) msbuild() { p.lower(dotnetJobs, 1, p.end(), p.r.o.Workers, p.r.o.why()) }
