package governor

import (
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	const pi, dora, root = 1000, 1001, 0
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return day.Add(time.Duration(s) * time.Second) }
	build := suspect{job: "make", user: pi, began: at(10), usedMB: 200, promiseMB: 300, roomMB: 100, grownMB: 150}
	hog := suspect{user: dora, usedMB: 400, grownMB: 350, roomMB: -1}
	with := func(s suspect, change func(*suspect)) suspect { change(&s); return s }
	over := with(build, func(s *suspect) { s.usedMB = 400 })
	tests := []struct {
		name     string
		above    bool // the critical line
		no       bool // capture cannot be had
		suspects []suspect
		users    map[uint32]int64
		lostMB   int64
		want     string // job, "tree" or ""
		deed     deed
		why      string
	}{
		{name: "nobody", want: ""},
		{name: "a tree that grew is stopped, the build is not", suspects: []suspect{build, hog}, want: "tree", deed: doStop,
			why: "it had grown by 350 MB"},
		{name: "above the line it is captured", above: true, suspects: []suspect{build, hog}, want: "tree", deed: doCapture},
		{name: "above the line, without a controller, nothing is done", above: true, no: true, suspects: []suspect{build, hog}, want: ""},
		{name: "a job over its promise", suspects: []suspect{over}, want: "make", deed: doStop,
			why: "it had 100 MB more than the 300 MB that it was promised"},
		{name: "another's job over its promise comes after the tree", suspects: []suspect{over, with(hog, func(s *suspect) { s.grownMB = 60 })},
			want: "tree", deed: doStop},
		{name: "of the same user the one that did more", suspects: []suspect{over, with(hog, func(s *suspect) { s.grownMB, s.user = 60, pi })},
			want: "make", deed: doStop},
		{name: "a tree that grew by little is not blamed", suspects: []suspect{over, with(hog, func(s *suspect) { s.grownMB = 20 })},
			want: "make", deed: doStop},
		{name: "nor one that grew by a small part of what was lost", lostMB: 600,
			suspects: []suspect{over, with(hog, func(s *suspect) { s.grownMB = 100 })}, want: "make", deed: doStop},
		{name: "above the line a capped job that cannot cross it is left", above: true,
			suspects: []suspect{with(over, func(s *suspect) { s.roomMB = 30 })}, want: ""},
		{name: "above the line one that can is stopped", above: true,
			suspects: []suspect{with(over, func(s *suspect) { s.roomMB = 90 })}, want: "make", deed: doStop},
		{name: "above the line one without a cap is stopped", above: true,
			suspects: []suspect{with(over, func(s *suspect) { s.roomMB = -1 })}, want: "make", deed: doStop},
		{name: "above the line nobody pays for another", above: true, suspects: []suspect{build}, users: map[uint32]int64{root: 500}, want: ""},
		{name: "a captured tree grows no more", above: true, suspects: []suspect{build, with(hog, func(s *suspect) { s.job, s.late = "late", true })}, want: ""},
		{name: "a captured tree is stopped first", suspects: []suspect{build, with(hog, func(s *suspect) { s.job, s.late, s.grownMB = "late", true, 0 })},
			want: "late", deed: doStop},
		{name: "what is spared is not stopped", suspects: []suspect{with(hog, func(s *suspect) { s.spare = "it is sshd" })}, want: ""},
		{name: "the newest of the user who grew",
			suspects: []suspect{build, with(build, func(s *suspect) { s.job, s.user, s.began = "npm", dora, at(5) }),
				with(build, func(s *suspect) { s.job, s.user, s.began = "old", dora, at(1) })},
			users: map[uint32]int64{dora: 90, pi: 20}, want: "npm", deed: doStop,
			why: "it was the newest heavy job of the user whose processes had grown by 90 MB"},
		{name: "the newest of all where no user stands out",
			suspects: []suspect{build, with(build, func(s *suspect) { s.job, s.user, s.began = "npm", dora, at(5) })},
			users:    map[uint32]int64{dora: 20, pi: 10}, want: "make", deed: doStop, why: "it was the newest heavy job"},
		{name: "package managers never",
			suspects: []suspect{with(build, func(s *suspect) { s.job, s.spare = "apt", sparePackages })}, users: map[uint32]int64{pi: 90}, want: ""},
		{name: "what stands still after what runs",
			suspects: []suspect{build, with(build, func(s *suspect) { s.job, s.stands, s.began = "held", true, at(20) })}, want: "make", deed: doStop},
		{name: "what stands still and has something",
			suspects: []suspect{with(build, func(s *suspect) { s.job, s.stands = "held", true })}, want: "held", deed: doStop},
		{name: "what stands still is not over its promise",
			suspects: []suspect{build, with(over, func(s *suspect) { s.job, s.stands = "held", true })}, want: "make", deed: doStop},
		{name: "what frees nothing is left", suspects: []suspect{with(build, func(s *suspect) { s.usedMB = 5 })}, want: ""},
		{name: "what has nobody knows how much may be it", suspects: []suspect{with(build, func(s *suspect) { s.usedMB = -1 })}, want: "make", deed: doStop},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := emergency{below: !test.above, availableMB: 180, criticalMB: 96, captures: !test.no, lostMB: test.lostMB,
				users: test.users, suspects: test.suspects}
			if e.below {
				e.availableMB = 80
			}
			c, ok := e.choose()
			got := ""
			switch {
			case ok && c.job == "":
				got = "tree"
			case ok:
				got = c.job
			}
			if got != test.want || ok && c.deed != test.deed {
				t.Errorf("got %q, deed %d (%s); want %q, %d", got, c.deed, c.why, test.want, test.deed)
			}
			if test.why != "" && c.why != test.why {
				t.Errorf("why: %q, want %q", c.why, test.why)
			}
		})
	}
}
