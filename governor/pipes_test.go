package governor

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headroomd/headroomd/loader/proc"
)

// fakeLinks are the descriptors of processes: "0<1 1>2 2>2" reads pipe 1 as
// descriptor 0 and writes pipe 2 as 1 and 2; "0=3" is open for both.
type fakeLinks struct {
	text  map[int]string
	takes time.Duration
	reads int
}

func (f *fakeLinks) Links(pid int) ([]proc.Link, error) {
	f.reads++
	time.Sleep(f.takes)
	text, ok := f.text[pid]
	if !ok {
		return nil, proc.ErrGone
	}
	var links []proc.Link
	for word := range strings.FieldsSeq(text) {
		var l proc.Link
		var mode rune
		if _, err := fmt.Sscanf(word, "%d%c%d", &l.FD, &mode, &l.Pipe.Ino); err != nil {
			return nil, err
		}
		l.Reads, l.Writes = mode != '>', mode != '<'
		links = append(links, l)
	}
	return links, nil
}

func TestLinkedJob(t *testing.T) {
	job := []jobMembers{{"a", []int{10}}}
	tests := []struct {
		name  string
		links map[int]string
		jobs  []jobMembers
		want  string
		via   []int
	}{
		{"no pipe", map[int]string{20: "", 10: "1>1"}, job, "", nil},
		{"no job", map[int]string{20: "0<1", 10: "1>1"}, nil, "", nil},
		{"a job without processes", map[int]string{20: "0<1", 10: "1>1"}, []jobMembers{{"a", nil}}, "", nil},
		{"reads what the job writes", map[int]string{20: "0<1", 10: "1>1"}, job, "a", nil},
		{"writes what the job reads", map[int]string{20: "1>1", 10: "0<1"}, job, "a", nil},
		{"its stderr does", map[int]string{20: "2>1", 10: "0<1"}, job, "a", nil},
		{"a FIFO that both have open for both", map[int]string{20: "0=1", 10: "0=1"}, job, "a", nil},
		{"another pipe", map[int]string{20: "0<1", 10: "1>2"}, job, "", nil},
		{"both write into what an agent reads", map[int]string{20: "1>1 2>1", 10: "1>1 2>1"}, job, "", nil},
		{"both read from what an agent writes", map[int]string{20: "0<1", 10: "0<1"}, job, "", nil},
		{"through tee, downwards", map[int]string{20: "1>1", 15: "0<1 1>2", 10: "0<2"}, job, "a", []int{15}},
		{"through tee and sed, upwards", map[int]string{20: "0<3", 16: "0<2 1>3", 15: "0<1 1>2", 10: "1>1"}, job, "a", []int{16, 15}},
		{"both write into one tee", map[int]string{20: "1>1", 15: "0<1 1>2", 10: "1>1"}, job, "", nil},
		{"both read from one producer", map[int]string{20: "0<1", 15: "1>1", 10: "0<1"}, job, "", nil},
		{"a producer with an output for each", map[int]string{20: "0<1", 15: "1>1 2>2", 10: "0<2"}, job, "a", []int{15}},
		{"a loop that reads what the job writes", map[int]string{20: "0<1", 15: "0<1", 10: "1>1"}, job, "a", nil},
		{"a ring of light ones", map[int]string{20: "0<1 1>2", 15: "0<2 1>3", 16: "0<3 1>1", 10: "1>9"}, job, "", nil},
		{"one between is gone", map[int]string{20: "1>1", 10: "0<2"}, job, "", nil},
		{"it is in the job", map[int]string{20: "0<1 1>2", 10: ""}, []jobMembers{{"a", []int{20}}}, "", nil},
		{"the second job", map[int]string{20: "0<1", 10: "1>2", 30: "1>1"}, []jobMembers{{"a", []int{10}}, {"b", []int{30}}}, "b", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := linkedJob(20, tt.jobs, []int{1, 10, 15, 16, 20, 30, 40}, &fakeLinks{text: tt.links})
			if got.job != tt.want || ok != (tt.want != "") || !slices.Equal(got.via, tt.via) {
				t.Errorf("got %+v, %v, want %q through %v", got, ok, tt.want, tt.via)
			}
			if ok && !slices.ContainsFunc(tt.jobs, func(j jobMembers) bool { return j.job == got.job && slices.Contains(j.pids, got.member) }) {
				t.Errorf("member %d is none of job %q", got.member, got.job)
			}
		})
	}
}

// chain is a pipeline of light processes between x (100) and the job's (200).
func chain(between int) *fakeLinks {
	f := &fakeLinks{text: map[int]string{100: "1>1"}}
	for i := range between {
		f.text[101+i] = fmt.Sprintf("0<%d 1>%d", i+1, i+2)
	}
	f.text[200] = fmt.Sprintf("0<%d", between+1)
	return f
}

func TestLinkedJobBounds(t *testing.T) {
	everybody := make([]int, 4000)
	for i := range everybody {
		everybody[i] = i + 1
	}
	job := []jobMembers{{"a", []int{200}}}
	for between, want := range map[int]bool{0: true, 1: true, maxLinkPeers: true, maxLinkPeers + 1: false} {
		f := chain(between)
		l, ok := linkedJob(100, job, everybody, f)
		if ok != want || ok && len(l.via) != between {
			t.Errorf("%d light ones between: %+v, %v, want %v", between, l, ok, want)
		}
		if f.reads > maxLinkReads {
			t.Errorf("%d processes read, want at most %d", f.reads, maxLinkReads)
		}
	}
	for name, tt := range map[string]struct {
		links *fakeLinks
		ok    bool
		reads int
	}{
		"a direct link":          {chain(0), true, 2},
		"a command without pipe": {&fakeLinks{text: map[int]string{100: ""}}, false, 1},
	} {
		if _, ok := linkedJob(100, job, everybody, tt.links); ok != tt.ok || tt.links.reads != tt.reads {
			t.Errorf("%s: %v after %d processes, want %v after %d", name, ok, tt.links.reads, tt.ok, tt.reads)
		}
	}
	// A job with more processes than may be read leaves room for those between.
	crowd := jobMembers{"a", everybody[1000:]}
	f := chain(1)
	if l, ok := linkedJob(100, []jobMembers{crowd, job[0]}, everybody, f); !ok || f.reads > maxLinkReads {
		t.Errorf("a crowd: %+v, %v, %d reads", l, ok, f.reads)
	}
	synctest.Test(t, func(t *testing.T) {
		f := chain(2)
		f.takes = time.Millisecond
		start := time.Now()
		linkedJob(100, []jobMembers{{"a", []int{3999}}}, everybody, f)
		if took := time.Since(start); took > maxLinkTime+2*f.takes {
			t.Errorf("took %v, want at most %v", took, maxLinkTime)
		}
	})
}

func TestLinkedJobNative(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	writer, reader := exec.Command("sleep", "60"), exec.Command("sleep", "60")
	beside := exec.Command("sleep", "60")
	writer.Stdout, reader.Stdin, beside.Stdout = w, r, w
	for _, c := range []*exec.Cmd{writer, reader, beside} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Wait()
		defer c.Process.Kill()
	}
	r.Close()
	w.Close()
	var fs proc.FS
	pids, err := fs.List()
	if err != nil {
		t.Fatal(err)
	}
	job := []jobMembers{{"a", []int{writer.Process.Pid}}}
	if l, ok := linkedJob(reader.Process.Pid, job, pids, fs); !ok || l.member != writer.Process.Pid {
		t.Errorf("its reader: %+v, %v", l, ok)
	}
	if l, ok := linkedJob(beside.Process.Pid, job, pids, fs); ok {
		t.Errorf("another writer: %+v", l)
	}
}
