package lighten

import (
	"fmt"
	"strings"

	"github.com/headroomd/headroomd/classifier"
)

// Options is what a rewrite rests on.
type Options struct {
	CPUs  int   // that the command may use; below 1 unknown
	CapMB int64 // memory that the command is given, in MB; below 1 unknown

	// Workers is how many compilers and the like may run at once. 0 derives it
	// from CPUs and CapMB.
	Workers int

	// Xdist says that pytest would run in parallel by its own settings, without
	// a word on the line.
	Xdist bool

	// Env looks up the environment that the command will start with; nil is an
	// empty one.
	Env func(name string) (string, bool)

	// Dir is the absolute path of where the command starts, and Files reads the
	// project there: what `npm run NAME` starts is looked up in its package.json.
	// Without either the names decide.
	Dir   string
	Files classifier.Files

	// Script returns the text of a package's script: that of name in the
	// package.json of dir, which is relative to where the command starts, ""
	// being that place itself. manager is "npm", "pnpm", "yarn" or "bun". nil
	// reads them through Files.
	Script func(dir, manager, name string) (string, bool)
}

// workerMB is what one worker of a build is counted with: g++ takes 100 to
// 400 MB for a file, rustc 150 to 600 for a crate, Go's compiler 60 to 200.
const workerMB = 300

// Workers is how many workers of a build fit: one for each 300 MB of capMB, at
// most one a CPU, at least one. With an unknown capMB it is one.
func Workers(cpus int, capMB int64) int {
	return int(max(1, min(int64(cpus), capMB/workerMB)))
}

// A heap is 70 % of the cap: the rest is for what V8 keeps beside it (code,
// buffers, the young generation), for Node itself and for npm above it.
const heapPercent = 70

// maxHeapMB is Node's own limit on a machine of 16 GB or more. A higher one,
// put where there is none, would make the command heavier.
const maxHeapMB = 4096

// heapMB is the heap that an old value is lowered to; 0 with an unknown cap.
func (o *Options) heapMB() int { return int(max(0, o.CapMB) * heapPercent / 100) }

// resolve fills in what is derived.
func (o Options) resolve() Options {
	if o.Workers < 1 {
		o.Workers = Workers(o.CPUs, o.CapMB)
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	return o
}

// why says what the number of workers rests on.
func (o *Options) why() string {
	var parts []string
	switch {
	case o.CPUs == 1:
		parts = append(parts, "1 CPU")
	case o.CPUs > 1:
		parts = append(parts, fmt.Sprintf("%d CPUs", o.CPUs))
	}
	if o.CapMB > 0 {
		parts = append(parts, fmt.Sprintf("%d MB", o.CapMB))
	}
	if parts == nil {
		return "the machine's size is not known"
	}
	return strings.Join(parts, ", ")
}
