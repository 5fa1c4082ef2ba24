package governor

import (
	"testing"

	"github.com/headroomd/headroomd/loader/proc"
)

// BenchmarkLookAtSizes reads every process of this machine, which is what an
// alarm costs for the most part.
func BenchmarkLookAtSizes(b *testing.B) {
	n := 0
	for b.Loop() {
		s, err := lookAtSizes(proc.FS{}, 0)
		if err != nil {
			b.Fatal(err)
		}
		n = len(s.bytes)
	}
	b.ReportMetric(float64(n), "processes")
}

// BenchmarkSurvey looks at all of them closely as well.
func BenchmarkSurvey(b *testing.B) {
	s := surveyor{fs: proc.FS{}, spare: &sparing{fs: proc.FS{}, rules: fakeRules{}, machine: true}}
	for b.Loop() {
		now, err := lookAtSizes(proc.FS{}, 0)
		if err != nil {
			b.Fatal(err)
		}
		s.look(sizes{}, now, members{})
	}
}
