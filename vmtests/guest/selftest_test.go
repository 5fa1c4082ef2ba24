package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Selftest is what the tests read of `headroomd selftest --json`.
type Selftest struct {
	Verdict string `json:"verdict"`
	Tier    struct {
		Name   string `json:"name"`
		Claims string `json:"claims"`
		Cap    string `json:"cap"`
	} `json:"tier"`
	Job struct {
		Unit        string `json:"unit"`
		Cgroup      Cgroup `json:"cgroup"`
		MemoryCapMB int64  `json:"memory_cap_mb"`
		PeakMB      int64  `json:"peak_mb"`
		OOMKills    int64  `json:"oom_kills"`
		OverMB      int64  `json:"over_mb"`
		Soft        bool   `json:"soft"`
	} `json:"job"`
	Steps []struct {
		Name  string `json:"name"`
		State string `json:"state"`
		Text  string `json:"text"`
	} `json:"steps"`
	TookS float64 `json:"took_s"`
}

// selfTest types a self-test and reads its result, whose verdict is to be want.
func selfTest(t *testing.T, s *Session, line, want string) Selftest {
	t.Helper()
	const file = "/var/tmp/selftest.json"
	os.Remove(file)
	out, status := s.Run(line + " --json >" + file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	var r Selftest
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, data, out)
	}
	code := map[string]int{"PASS": 0, "FAIL": 1}[want]
	if r.Verdict != want || status != code || out != "" {
		t.Errorf("%s: %s with %d, want %s with %d\n%s%s", line, r.Verdict, status, want, code, out, data)
	}
	t.Logf("%s: %s on %s (%s) in %.1f s: peak %d of %d MB, %d oom kills, soft %v",
		line, r.Verdict, r.Tier.Name, r.Tier.Cap, r.TookS, r.Job.PeakMB, r.Job.MemoryCapMB, r.Job.OOMKills, r.Job.Soft)
	if left := JobScopes(); len(left) > 0 {
		Eventually(t, patience, func() string {
			if left = JobScopes(); len(left) == 0 {
				return ""
			}
			return fmt.Sprintf("scopes are left: %q", left)
		})
	}
	return r
}

// is fails the test unless a step ended that way, with the words in its text.
func (r Selftest) is(t *testing.T, step, state, words string) {
	t.Helper()
	i := slices.IndexFunc(r.Steps, func(s struct {
		Name  string `json:"name"`
		State string `json:"state"`
		Text  string `json:"text"`
	}) bool {
		return s.Name == step
	})
	if i < 0 || r.Steps[i].State != state || !strings.Contains(r.Steps[i].Text, words) {
		t.Errorf("step %s: want it %s with %q in %+v", step, state, words, r.Steps)
	}
}

// TestSelftest: root on a machine with systemd, beside a governor and without.
func TestSelftest(t *testing.T) {
	InVM(t)
	b := StartBystander(t)
	s := Login(t, "pi")
	kernel := func(t *testing.T, r Selftest) {
		t.Helper()
		if r.Tier.Name != "systemd" || r.Tier.Cap != "kernel" || r.Job.OOMKills < 1 || r.Job.Soft || r.Job.PeakMB > r.Job.MemoryCapMB+1 {
			t.Errorf("told %+v, %+v", r.Tier, r.Job)
		}
		r.is(t, "hold", "ok", "")
		r.is(t, "note", "ok", "a terminal")
		b.Check()
	}
	t.Run("Alone", func(t *testing.T) {
		s.Use(t)
		r := selfTest(t, s, "sudo headroomd selftest", "PASS")
		kernel(t, r)
		if r.Job.Cgroup.Slice() != "user-1000.slice" {
			t.Errorf("the job was in %s, want it beside the session", r.Job.Cgroup)
		}
	})
	t.Run("BesideAGovernor", func(t *testing.T) {
		s.Use(t)
		d := Daemon{}.Start(t)
		kernel(t, selfTest(t, s, "sudo headroomd selftest", "PASS"))
		for _, e := range d.Events() {
			if e.Job != "" {
				t.Errorf("the governor took %+v for a job", e)
			}
		}
	})
	// The manager takes a MemoryMax= all the same.
	t.Run("AScopeWithoutAController", func(t *testing.T) {
		s.Use(t)
		const slice = "/run/systemd/system/withheld.slice"
		if err := os.WriteFile(slice, []byte("[Slice]\nDisableControllers=memory\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		systemctl(t, "daemon-reload")
		defer func() {
			systemctl(t, "stop", "withheld.slice")
			os.Remove(slice)
			systemctl(t, "daemon-reload")
		}()
		r := selfTest(t, s, "sudo systemd-run --quiet --scope --slice=withheld.slice headroomd selftest", "FAIL")
		if r.Tier.Claims != "kernel" || r.Tier.Cap == "kernel" {
			t.Errorf("told %+v", r.Tier)
		}
		r.is(t, "cap", "failed", "no memory controller")
		b.Check()
	})
}

// measured fails the test unless a job was killed at a cap that the governor
// keeps. By how much it was over is told and no failure: an emulated machine
// looks late.
func (r Selftest) measured(t *testing.T, tier string) {
	t.Helper()
	if r.Tier.Name != tier || r.Tier.Cap != "soft" || !r.Job.Soft || r.Job.OOMKills != 1 || r.Job.PeakMB < r.Job.MemoryCapMB {
		t.Errorf("told %+v, %+v", r.Tier, r.Job)
	}
	t.Logf("%d MB over a cap of %d MB", r.Job.OverMB, r.Job.MemoryCapMB)
}

// TestPiSelftest: a stock Raspberry Pi's kernel has no memory controller.
func TestPiSelftest(t *testing.T) {
	InVM(t)
	b := StartBystander(t)
	s := Login(t, "pi")
	r := selfTest(t, s, "sudo headroomd selftest", "PASS")
	r.measured(t, "systemd")
	r.is(t, "hold", "ok", "")
	selfTest(t, s, "headroomd selftest --contain none", "PASS").measured(t, "none")
	if !Alive(b.pid) {
		t.Error("the bystander is gone")
	}
}

// TestInitSelftest: another init than systemd.
func TestInitSelftest(t *testing.T) {
	InVM(t)
	s := Login(t, "pi")
	r := selfTest(t, s, "sudo headroomd selftest", "PASS")
	if r.Tier.Name == "none" {
		r.measured(t, "none")
	} else if r.Tier.Cap != "kernel" || r.Job.OOMKills < 1 {
		t.Errorf("told %+v, %+v", r.Tier, r.Job)
	}
}

// TestUserSelftest: a user without root, in a login session.
func TestUserSelftest(t *testing.T) {
	InVM(t)
	s := Login(t, "pi")
	r := selfTest(t, s, "headroomd selftest", "PASS")
	if r.Tier.Name == "none" {
		r.measured(t, "none")
	} else if r.Tier.Cap != "kernel" || r.Job.OOMKills < 1 || !strings.Contains(string(r.Job.Cgroup), "/user@1000.service/") {
		t.Errorf("told %+v, %+v", r.Tier, r.Job)
	}
}
