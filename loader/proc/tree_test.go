package proc

import (
	"fmt"
	"slices"
	"testing"
)

// family is init(1) → sshd(10) → bash(20) → make(30) → cc1(40), ld(41); and
// bash → less(31).
func family(t *testing.T, children bool) fake {
	f := newFake(t)
	parents := map[int]int{1: 0, 10: 1, 20: 10, 30: 20, 31: 20, 40: 30, 41: 30}
	for pid, ppid := range parents {
		f.process(pid, ppid, uint64(pid)*100, fmt.Sprint("p", pid), "x")
	}
	if children {
		for pid := range parents {
			f.write(fmt.Sprintf("%d/task/%d/children", pid, pid), "")
		}
		f.write("20/task/20/children", "30 31 ")
		f.write("30/task/30/children", "40 ")
		f.write("30/task/35/children", "41 99 ") // a second thread's; 99 has ended
	}
	return f
}

func TestDescendants(t *testing.T) {
	want := []ID{{30, 3000}, {31, 3100}, {40, 4000}, {41, 4100}}
	for _, children := range []bool{true, false} {
		t.Run(fmt.Sprintf("children files %v", children), func(t *testing.T) {
			f := family(t, children)
			got, err := f.Descendants(20)
			slices.SortFunc(got, func(a, b ID) int { return a.PID - b.PID })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
			if got, err := f.Descendants(41); err != nil || len(got) != 0 {
				t.Errorf("a leaf: %v, %v", got, err)
			}
		})
	}
}

func TestDescendantsOfACircle(t *testing.T) {
	f := newFake(t) // pids that were reused while they were read
	f.process(20, 30, 1, "a", "a")
	f.process(30, 20, 2, "b", "b")
	f.write("20/task/20/children", "30 ")
	f.write("30/task/30/children", "20 ")
	if got, err := f.Descendants(20); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v; want one", got, err)
	}
}

func TestAncestors(t *testing.T) {
	f := family(t, true)
	f.process(50, 49, 5000, "orphan", "x") // its parent has ended, and it was not told
	for _, tc := range []struct {
		name     string
		pid, max int
		want     []int
	}{
		{"all", 40, 16, []int{30, 20, 10, 1}},
		{"bounded", 40, 2, []int{30, 20}},
		{"init", 1, 16, nil},
		{"a parent that is gone", 50, 16, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			chain, err := f.Ancestors(tc.pid, tc.max)
			var got []int
			for _, s := range chain {
				got = append(got, s.ID.PID)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}
