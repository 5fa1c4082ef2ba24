package classifier

// Class says what running a command would start.
type Class string

const (
	Light Class = "light"
	Heavy Class = "heavy"
)

// Kind bits say how the governor treats a heavy command's process.
type Kind uint32

const (
	Supervisor     Kind = 1 << iota // coding agents, IDE servers, multiplexers, CI runners: never captured, what they run is
	PackageManager                  // its insides (maintainer scripts) are never held, stopped or swept
	Compiler                        // compilers, linkers, configure: their stderr is read by programs
	Daemon                          // is meant to stay (gradle's daemon, a dev server)
	Shell                           // an interactive or scripted shell
	Carrier                         // runs what its arguments name by an exec of its own
)

// Has reports whether all bits of k are set.
func (k Kind) Has(bits Kind) bool { return k&bits == bits }

// Command is an executed command as the classifier sees it.
type Command struct {
	Argv []string
	Exe  string // resolved binary; "" unknown
	Comm string // "" unknown
	Cwd  string // "" unknown

	// Files, with Cwd, lets the answer look into the project's package.json: see
	// Set.LineIn. nil in a hot path, which reads nothing.
	Files Files

	// AtExec says that only Capture is wanted. A shell's line and what a sudo or
	// a timeout carries exec by themselves and are never captured before: they
	// are not looked at, which a line of 128 KB would make dear.
	AtExec bool
}

// Verdict is the classifier's answer, with the words that led to it.
type Verdict struct {
	Class    Class    `json:"class"`
	Capture  bool     `json:"capture"` // the governor takes this exec itself, rather than the exec of what it carries
	Kind     Kind     `json:"-"`
	Family   string   `json:"family"`              // "" when light and nothing tempts
	Rule     string   `json:"rule"`                // id of the rule, "" when none matched
	Source   string   `json:"source,omitempty"`    // file and line of the rule; "built in" for the embedded ones
	Matched  string   `json:"matched"`             // the words that matched
	Reason   string   `json:"reason"`              // one sentence
	Trace    []string `json:"trace"`               // every step, in order; nil from the hot path unless asked for
	WeightMB int      `json:"weight_mb,omitempty"` // what such a command typically takes; 0 unknown
	Remedy   string   `json:"remedy,omitempty"`    // what to try when it does not fit
}
