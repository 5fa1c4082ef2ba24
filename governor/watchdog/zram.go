package watchdog

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Zram sums the zram devices that serve as swap. Sizes are in bytes; all are 0
// where there is none.
type Zram struct {
	Total    int64 // disksize
	Stored   int64 // orig_data_size of mm_stat
	Physical int64 // mem_used_total of mm_stat
}

// zram is best effort: what cannot be read counts as no zram, and the budget
// is then as large as on a machine that swaps to a disk.
func (r *Reader) zram() Zram {
	swaps, err := r.proc.Swaps()
	if err != nil {
		return Zram{}
	}
	var sum Zram
	for _, swap := range swaps {
		name := filepath.Base(swap.Filename)
		if !strings.HasPrefix(name, "zram") {
			continue
		}
		dir := filepath.Join(r.sys, "block", name)
		total, ok := readSize(filepath.Join(dir, "disksize"))
		if !ok {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "mm_stat"))
		if err != nil {
			continue
		}
		stored, physical, ok := parseMMStat(string(stat))
		if !ok {
			continue
		}
		sum.Total += total
		sum.Stored += stored
		sum.Physical += physical
	}
	return sum
}

func readSize(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil && n >= 0
}

// parseMMStat reads /sys/block/zramN/mm_stat (Linux ≥ 4.2): orig_data_size
// compr_data_size mem_used_total …, in bytes.
func parseMMStat(text string) (stored, physical int64, ok bool) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return 0, 0, false
	}
	stored, err1 := strconv.ParseInt(words[0], 10, 64)
	physical, err2 := strconv.ParseInt(words[2], 10, 64)
	if err1 != nil || err2 != nil || stored < 0 || physical < 0 {
		return 0, 0, false
	}
	return stored, physical, true
}
