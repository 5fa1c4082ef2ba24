package main

import (
	"fmt"
	"strings"
)

// The states of a step of the self-test.
const (
	stepPassed  = "ok"
	stepFailed  = "failed"
	stepSkipped = "skipped" // this tier has nothing of the kind
)

// The caps that a tier can have.
const (
	capKernel = "kernel" // the memory controller kills in the job's cgroup
	capSoft   = "soft"   // the governor counts, and kills
	capNone   = "none"
)

// selfStep is one step of the self-test.
type selfStep struct {
	Name  string `json:"name"`
	State string `json:"state"` // "ok", "failed", "skipped"
	Text  string `json:"text"`
	Next  string `json:"next,omitempty"` // what to do about it
}

// selfReport is what `selftest --json` prints. Sizes are in MB of 2^20; what is
// not known is -1.
type selfReport struct {
	Verdict string   `json:"verdict"` // "PASS", "FAIL"
	Version string   `json:"version"`
	Tier    selfTier `json:"tier"`
	Memory  struct {
		TotalMB     int64 `json:"total_mb"`
		AvailableMB int64 `json:"available_mb"`
		PSI         bool  `json:"psi"`
	} `json:"memory"`
	Job   selfJob    `json:"job"`
	Steps []selfStep `json:"steps"`
	TookS float64    `json:"took_s"`
}

// selfTier is where jobs are put here, as it says and as it was found to be.
type selfTier struct {
	Name   string `json:"name"` // "systemd", "cgroupfs", "none"
	Why    string `json:"why"`
	Claims string `json:"claims"` // the cap that it says it has
	Cap    string `json:"cap"`    // the cap that was in force
}

// selfJob is the job that was to outgrow its cap.
type selfJob struct {
	Unit        string `json:"unit,omitempty"`
	Cgroup      string `json:"cgroup,omitempty"`
	MemoryCapMB int64  `json:"memory_cap_mb"`
	AskedMB     int64  `json:"asked_mb"`
	PeakMB      int64  `json:"peak_mb"`
	OOMKills    int64  `json:"oom_kills"`
	OOMKilled   bool   `json:"oom_killed"`
	OverMB      int64  `json:"over_mb"` // what it had beyond its cap
	Soft        bool   `json:"soft"`    // the governor killed it, and not the kernel
}

// settle decides the verdict: one failed step fails the whole.
func (r *selfReport) settle() {
	r.Verdict = "PASS"
	for _, s := range r.Steps {
		if s.State == stepFailed {
			r.Verdict = "FAIL"
		}
	}
}

// verdict is the last line.
func (r *selfReport) verdict() string {
	return fmt.Sprintf("headroomd selftest: %s (tier %s, %s)\n", r.Verdict, r.Tier.Name, r.Tier.words())
}

func (t selfTier) words() string {
	switch {
	case t.Cap == capKernel:
		return "memory capped by the kernel"
	case t.Claims == capKernel && t.Cap == capSoft:
		return "memory only measured, though it says otherwise"
	case t.Cap == capSoft:
		return "memory capped by measuring"
	case t.Claims == capKernel:
		return "no memory cap in force, though it says so"
	}
	return "no memory cap tried"
}

// print is one step for people: a mark, its name, its text, and what to do next.
func (s selfStep) print() string {
	mark := map[string]string{stepPassed: "ok", stepFailed: "!!", stepSkipped: "--"}[s.State]
	text := wrapped(fmt.Sprintf("  %s %-10s", mark, s.Name), s.Text)
	if s.Next != "" {
		text += wrapped(strings.Repeat(" ", 15), "next: "+s.Next)
	}
	return text
}
