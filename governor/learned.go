package governor

import (
	"time"

	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/loader/proc"
)

// learned is what earlier runs of a job's command say about it.
type learned struct {
	key  admission.PeakKey
	mb   int64 // the largest of the last runs; -1 unknown
	runs int
}

// recall looks up what is known of a command.
func (g *Governor) recall(j *job, x *proc.Exec) {
	j.peak = learned{key: admission.PeakKey{UID: x.UID, Dir: x.Cwd, Signature: admission.Signature(x.Argv)}, mb: -1}
	if mb, runs, ok := g.peaks.Peak(j.peak.key, time.Now()); ok {
		j.peak.mb, j.peak.runs = mb, runs
	}
}

// tooLarge says that a job peaked at more than it can ever be given here;
// empty when it did not, or when nothing is known.
func (g *Governor) tooLarge(j *job, m admission.Machine, l admission.Limits) string {
	var ours int64
	for _, c := range g.book.Holders() {
		ours += max(c.UsedMB, 0)
	}
	return admission.TooLarge(m, l, ours, j.peak.mb, j.peak.runs)
}

// learn keeps the peak of a job that ran to its own end. One that was stopped,
// or lost a process to its cap, might have needed more; one that no reading saw
// says nothing, nor does one that is only watched, or that others
// were put into.
func (g *Governor) learn(j *job) {
	if j.observed || j.mixed || j.stopped || j.oomKills > 0 || j.peakMB <= 0 || j.peak.key.Signature == "" {
		return
	}
	g.peaks.Learn(j.peak.key, j.peakMB, time.Now())
	g.peaksNew = true
}

// peaksEvery is how often new peaks are written: an SD card is not to wear out
// by them, and a crash costs a memory of a minute.
const peaksEvery = time.Minute

// keepPeaks has the peaks written if there are new ones.
func (g *Governor) keepPeaks(now time.Time) {
	if !g.peaksNew || g.o.PeakFile == "" || now.Sub(g.peaksKept) < peaksEvery && !g.stopping {
		return
	}
	text, err := g.peaks.MarshalJSON()
	if err != nil {
		g.o.Log.Warn("write learned peaks", "err", err)
		return
	}
	g.peaksNew, g.peaksKept = false, now
	g.keeper.keep(g.o.PeakFile, text)
}
