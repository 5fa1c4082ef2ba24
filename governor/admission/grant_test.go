package admission

import (
	"strings"
	"testing"
)

// limitsOf are the automatic limits of the machines below.
var limitsOf = map[int64]Limits{
	512:   {MaxHeavyJobs: 1, ReserveMB: 128, MinStartMB: 76, CriticalMB: 51},
	1024:  {MaxHeavyJobs: 1, ReserveMB: 256, MinStartMB: 192, CriticalMB: 96},
	2048:  {MaxHeavyJobs: 1, ReserveMB: 307, MinStartMB: 204, CriticalMB: 102},
	4096:  {MaxHeavyJobs: 2, ReserveMB: 614, MinStartMB: 409, CriticalMB: 204},
	65536: {MaxHeavyJobs: 4, ReserveMB: 2048, MinStartMB: 1024, CriticalMB: 512},
}

func TestGrant(t *testing.T) {
	tests := []struct {
		name      string
		totalMB   int64
		available int64
		swapFree  int64
		limits    func(*Limits)
		running   []Claim
		zram      Zram
		want      Cap
	}{
		{
			name: "512 MB, fresh", totalMB: 512, available: 400,
			want: Cap{272, 256, 272, "400 MB available - 128 MB reserve = 272 MB"},
		},
		{
			name: "512 MB, nearly full", totalMB: 512, available: 150,
			want: Cap{204, 256, 22, "150 MB available - 128 MB reserve = 22 MB is below the 76 MB a job starts with: 204 MB is 40 % of 512 MB"},
		},
		{
			name: "1 GB, fresh", totalMB: 1024, available: 800, swapFree: 1000,
			want: Cap{544, 500, 544, "800 MB available - 256 MB reserve = 544 MB"},
		},
		{
			name: "1 GB, an npm install beside an agent of 300 MB", totalMB: 1024, available: 440,
			want: Cap{409, 256, 184, "440 MB available - 256 MB reserve = 184 MB is below the 192 MB a job starts with: 409 MB is 40 % of 1024 MB"},
		},
		{
			name: "1 GB, above the critical line is more", totalMB: 1024, available: 440, limits: func(l *Limits) { l.CriticalMB = 20 },
			want: Cap{420, 256, 184, "440 MB available - 256 MB reserve = 184 MB is below the 192 MB a job starts with: 420 MB is what is left above the critical line of 20 MB"},
		},
		{
			name: "1 GB, the slot is taken and unused", totalMB: 1024, available: 780, running: []Claim{{544, 20}},
			want: Cap{204, 256, 0, "the one slot is taken: 204 MB is 40 % of 1024 MB divided by 2 jobs"},
		},
		{
			name: "1 GB, the slot is taken and used", totalMB: 1024, available: 600, running: []Claim{{200, 200}},
			want: Cap{252, 256, 252, "the one slot is taken: 252 MB is what is left above the critical line of 96 MB and what is promised, divided by 2 jobs"},
		},
		{
			name: "1 GB, many jobs", totalMB: 1024, available: 100, running: make([]Claim, 9),
			want: Cap{64, 256, 0, "the one slot is taken: 64 MB is the smallest cap there is"},
		},
		{
			name: "2 GB, nothing left", totalMB: 2048, available: 0,
			want: Cap{819, 256, 0, "0 MB available - 307 MB reserve = -307 MB is below the 204 MB a job starts with: 819 MB is 40 % of 2048 MB"},
		},
		{
			name: "4 GB, first of two", totalMB: 4096, available: 3614,
			want: Cap{3000, 256, 1500, "3614 MB available - 614 MB reserve = 3000 MB, divided by 2 free slots is 1500 MB; alone it is capped at 3000 MB, all of it until another one starts"},
		},
		{
			name: "4 GB, second of two", totalMB: 4096, available: 3514, swapFree: 4000, running: []Claim{{1500, 100}},
			want: Cap{1500, 256, 1500, "3514 MB available - 614 MB reserve - 1400 MB promised to running jobs = 1500 MB"},
		},
		{
			name: "4 GB, what the first uses is not known", totalMB: 4096, available: 3614, running: []Claim{{1500, -1}},
			want: Cap{1500, 256, 1500, "3614 MB available - 614 MB reserve - 1500 MB promised to running jobs = 1500 MB"},
		},
		{
			name: "4 GB, the first uses more than promised", totalMB: 4096, available: 2014, running: []Claim{{500, 1600}},
			want: Cap{1400, 256, 1400, "2014 MB available - 614 MB reserve = 1400 MB"},
		},
		{
			name: "4 GB, a share below the least start", totalMB: 4096, available: 1214,
			want: Cap{1638, 256, 409, "1214 MB available - 614 MB reserve = 600 MB, of which 409 MB is the least a job starts with; alone it is capped at 1638 MB, 40 % of 4096 MB"},
		},
		{
			name: "1 GB, a little more than the least start", totalMB: 1024, available: 450,
			want: Cap{409, 256, 194, "450 MB available - 256 MB reserve = 194 MB; alone it is capped at 409 MB, 40 % of 1024 MB"},
		},
		{
			name: "64 GB, first of four", totalMB: 65536, available: 62048, swapFree: 8192,
			want: Cap{60000, 4096, 15000, "62048 MB available - 2048 MB reserve = 60000 MB, divided by 4 free slots is 15000 MB; alone it is capped at 60000 MB, all of it until another one starts"},
		},
		{
			name: "64 GB, all slots taken", totalMB: 65536, available: 40512, running: []Claim{{15000, 15000}, {15000, 10000}, {1, 1}, {1, 1}},
			want: Cap{7000, 256, 7000, "all 4 slots are taken: 7000 MB is what is left above the critical line of 512 MB and what is promised, divided by 5 jobs"},
		},
		{
			name: "a most for each job", totalMB: 4096, available: 3614, limits: func(l *Limits) { l.JobMemoryMaxMB = 2000 },
			want: Cap{2000, 256, 2000, "3614 MB available - 614 MB reserve = 3000 MB, bounded to 2000 MB by job_memory_max_mb"},
		},
		{
			name: "a most beyond the budget", totalMB: 4096, available: 1614, limits: func(l *Limits) { l.JobMemoryMaxMB = 2000 },
			want: Cap{1638, 256, 1000, "1614 MB available - 614 MB reserve = 1000 MB, less than job_memory_max_mb = 2000; alone it is capped at 1638 MB, 40 % of 4096 MB"},
		},
		{
			name: "a most below the least start", totalMB: 1024, available: 300, limits: func(l *Limits) { l.JobMemoryMaxMB = 100 },
			want: Cap{100, 256, 44, "300 MB available - 256 MB reserve = 44 MB is below the 192 MB a job starts with: 100 MB is job_memory_max_mb"},
		},
		{
			name: "a most below the smallest cap", totalMB: 1024, available: 800, limits: func(l *Limits) { l.JobMemoryMaxMB = 10 },
			want: Cap{64, 256, 64, "800 MB available - 256 MB reserve = 544 MB, bounded to 64 MB by job_memory_max_mb"},
		},
		{
			name: "swap set", totalMB: 1024, available: 800, swapFree: 1000, limits: func(l *Limits) { l.SwapMB = 100 },
			want: Cap{544, 100, 544, "800 MB available - 256 MB reserve = 544 MB"},
		},
		{
			name: "swap unlimited", totalMB: 1024, available: 800, swapFree: 1000, limits: func(l *Limits) { l.SwapMB = -1 },
			want: Cap{544, -1, 544, "800 MB available - 256 MB reserve = 544 MB"},
		},
		{
			name: "swap unknown", totalMB: 1024, available: 800, swapFree: -1,
			want: Cap{544, 256, 544, "800 MB available - 256 MB reserve = 544 MB"},
		},
		{
			name: "zram, nothing in it yet", totalMB: 1024, available: 800, swapFree: 512, zram: Zram{TotalMB: 512},
			want: Cap{416, 256, 416, "800 MB available - 256 MB reserve - 128 MB for what it may put in zram = 416 MB"},
		},
		{
			name: "zram, measured", totalMB: 1024, available: 800, swapFree: 400, zram: Zram{TotalMB: 800, StoredMB: 400, PhysicalMB: 100},
			want: Cap{480, 256, 480, "800 MB available - 256 MB reserve - 64 MB for what it may put in zram = 480 MB"},
		},
		{
			name: "1 GB, beside an agent of 300 MB", totalMB: 1024, available: 530,
			want: Cap{434, 256, 274, "530 MB available - 256 MB reserve = 274 MB; alone it is capped at 434 MB, what is left above the critical line of 96 MB"},
		},
		{
			name: "zram, unlimited", totalMB: 1024, available: 800, swapFree: 400, zram: Zram{TotalMB: 400}, limits: func(l *Limits) { l.SwapMB = -1 },
			want: Cap{504, -1, 344, "800 MB available - 256 MB reserve - 200 MB for what it may put in zram = 344 MB; alone it is capped at 504 MB, what is left above the critical line of 96 MB"},
		},
		{
			name: "available is not known", totalMB: 1024, available: -1,
			want: Cap{409, 256, 0, "available memory could not be read: 409 MB is 40 % of 1024 MB"},
		},
		{
			name: "nothing is known", totalMB: 0, available: -1,
			want: Cap{0, 256, 0, "the machine's memory could not be read, so no cap can be named"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := limitsOf[test.totalMB]
			if test.limits != nil {
				test.limits(&l)
			}
			m := Machine{TotalMB: test.totalMB, AvailableMB: test.available, SwapTotalMB: max(test.swapFree, 0), SwapFreeMB: test.swapFree, Zram: test.zram}
			got := Grant(m, l, test.running)
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// Whatever comes, in any order: the promises stay within what is available
// minus the reserve, no cap is below the smallest, and each has its reason.
func TestGrantKeepsWithinTheBudget(t *testing.T) {
	for total, l := range limitsOf {
		for _, part := range []int64{0, 10, 30, 50, 70, 95} {
			available := total * part / 100
			var running []Claim
			var promised int64
			for n := range 12 {
				c := Grant(Machine{TotalMB: total, AvailableMB: available, SwapFreeMB: 100}, l, running)
				if c.MemoryMB < MinCapMB || c.MemoryMB > total || c.PromiseMB < 0 || c.PromiseMB > c.MemoryMB {
					t.Errorf("%d of %d MB, job %d: %+v", available, total, n, c)
				}
				if c.Why == "" || strings.Contains(c.Why, "%!") || len(c.Why) > 240 {
					t.Errorf("reason: %q", c.Why)
				}
				promised += c.PromiseMB
				running = append(running, Claim{PromiseMB: c.PromiseMB})
			}
			if promised > max(available-l.ReserveMB, 0) {
				t.Errorf("%d of %d MB: %d MB are promised of %d", available, total, promised, available-l.ReserveMB)
			}
		}
	}
}

func TestTakeOff(t *testing.T) {
	tests := []struct {
		name   string
		cap    int64
		caught float64
		want   int64
	}{
		{"nothing", 460, 0, 460},
		{"unknown", 460, -1, 460},
		{"a little counts as one", 460, 0.03, 459},
		{"some", 460, 105, 355},
		{"more than there is", 460, 4000, 64},
		{"more than can be", 460, 1e300, 64},
		{"no cap", 0, 10, 0},
		{"at the smallest", 64, 10, 64},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := TakeOff(Cap{MemoryMB: test.cap, SwapMB: 7, PromiseMB: 9, Why: "x"}, test.caught)
			if got.MemoryMB != test.want || got.SwapMB != 7 || got.PromiseMB != 9 {
				t.Errorf("got %+v, want %d MB", got, test.want)
			}
			if changed := got.Why != "x"; changed != (test.cap != test.want) {
				t.Errorf("reason: %q", got.Why)
			}
		})
	}
}
