package doctor

// Options are where to look, for whom, and what files do not tell.
type Options struct {
	Root string // the directory that has proc, sys, etc in it; "" is "/"
	UID  int    // whom the answers are for
	User string // that user's name, for the commands; "" = not known

	// Sources are the ways to see execs in the order of preference, each with
	// what its opening answered. nil: they were not tried.
	Sources []Attempt

	// Systemd is the version of the running systemd ("252.39"); "" is looked
	// for in the names of its files.
	Systemd string

	Limits   *Limits // nil: not known, then what depends on them is not judged
	Settings File
	Rules    File
	Governor Governor
}

// Attempt is one source's answer: nil, an error that is errors.ErrUnsupported
// and says what is missing, or another error.
type Attempt struct {
	Name string
	Err  error
}

// Limits are settings in MB, with the automatic ones resolved.
type Limits struct{ ReserveMB, MinStartMB, CriticalMB int64 }

// File is a file or directory of the owner's that was read.
type File struct {
	Path   string // "" = it was not looked at
	Found  bool
	Faults []error
}

// Governor is the governor that answers at a socket.
type Governor struct {
	Asked   bool // false: nobody was asked
	Socket  string
	Err     error // why none answered; nil: one did
	Machine bool  // it guards the whole machine, not one user
	Mode    string
	Source  string // how it sees execs
	Why     string // and why not better
	Contain string // where it puts jobs
	NoCaps  string // why the kernel enforces no cap for it; "" = it does
}

// answers reports whether a governor of the whole machine is at work, which
// makes it unimportant what this user could do alone.
func (g Governor) answers() bool { return g.Asked && g.Err == nil && g.Machine }
