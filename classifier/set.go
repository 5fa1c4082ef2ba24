package classifier

// Options are the owner's own patterns, from the settings. Each is a regular
// expression (RE2) over a whole command, its words joined by single blanks.
type Options struct {
	ExtraHeavy []string // heavy, whatever the rules say
	Exclude    []string // never heavy; wins over ExtraHeavy and over every rule
}

// Set is a compiled set of rules. It is read-only after New and may be used by
// several goroutines.
type Set struct {
}

// Builtin returns the embedded rules, parsed once a process.
func Builtin() *Set { return &Set{} }

// New returns the embedded rules with the owner's patterns. The error names
// the pattern that does not compile.
func New(o Options) (*Set, error) { return &Set{}, nil }

// Argv judges an executed command. It is the hot path: no trace.
func (s *Set) Argv(c Command) Verdict { return Verdict{Class: Light} }

// ExplainArgv is Argv with the trace filled.
func (s *Set) ExplainArgv(c Command) Verdict { return s.Argv(c) }

// LineVerdict is the answer for a shell line: that of its heaviest command,
// and one for each simple command seen, in order.
type LineVerdict struct {
	Verdict
	Commands []CommandVerdict `json:"commands"`
}

// CommandVerdict is one simple command of a line, with its words.
type CommandVerdict struct {
	Verdict
	Words []string `json:"words"`
}

// Line judges a shell line.
func (s *Set) Line(line string) LineVerdict { return LineVerdict{Verdict: Verdict{Class: Light}} }

// ArgvDecides is the tag bit of a name that says nothing by itself (node, sh,
// env): only the argv tells.
const ArgvDecides uint32 = 1 << 31

// Names returns the program names whose execs must be reported, as the kernel
// shows them in comm, each with a tag: bit i for the family of index i in
// Families, and ArgvDecides. all is true when an owner's pattern cannot be
// expressed by names, so that every exec must be reported.
func (s *Set) Names() (names map[string]uint32, all bool) { return nil, false }

// Rules returns the rules in force, in the order in which they are tried.
func (s *Set) Rules() []Rule { return nil }

// Rule is one rule as people see it.
type Rule struct {
	ID       string `json:"id"`
	Family   string `json:"family"`
	Class    Class  `json:"class"`
	Kind     Kind   `json:"-"`
	Source   string `json:"source"`
	WeightMB int    `json:"weight_mb,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}
