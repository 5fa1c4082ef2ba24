package note

import "fmt"

// Over is a job that reached its cap and lost a process to it.
type Over struct {
	Program string // the job's, argv[0]
	Killed  string // the name of the process that died; "" unknown
	CapMB   int64  // what it was held to; 0 or less unknown
	PeakMB  int64  // the most it had; 0 or less unknown
	// Soft says that this program counted and killed, since the kernel has no
	// memory controller here. It counts now and then, so the peak may be well
	// above the cap.
	Soft   bool
	Remedy string // a rule's sentence; "" where it has none
}

// OverCapText says what died, and what to do differently: who only sees
// "Killed" starts the same again.
func OverCapText(o Over) string {
	text := programName(o.Program) + " went over its memory cap"
	if o.CapMB > 0 {
		text += fmt.Sprintf(" of %d MB", o.CapMB)
	}
	if o.PeakMB > 0 && o.PeakMB != o.CapMB {
		text += fmt.Sprintf(" (peak %d MB)", o.PeakMB)
	}
	who := "the kernel"
	if o.Soft {
		who = "headroomd"
	}
	text += ": " + who + " killed its largest process"
	if o.Killed != "" {
		text += " (" + clean(o.Killed, 24) + ")"
	}
	if o.Remedy == "" {
		return text + ". Try fewer workers, or a smaller piece of it at a time."
	}
	return text + ". " + o.Remedy
}

// Stop is a job that was ended for the machine's sake.
type Stop struct {
	Program     string
	AvailableMB int64  // what was left when that was decided; -1 unknown
	Why         string // why this one: "it was the newest heavy job"; our words only
	Job         string // its id
}

// StoppedText says that it was not the command's own fault, or why it was.
func StoppedText(s Stop) string {
	text := programName(s.Program) + " was stopped: "
	if s.AvailableMB >= 0 {
		text += fmt.Sprintf("only %d MB of memory were left", s.AvailableMB)
	} else {
		text += "the machine ran out of memory"
	}
	if s.Why != "" {
		text += ", and " + s.Why
	}
	return text + ". Start it again when more is free; headroomd why " + s.Job + " tells more"
}
