package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	maxLineBytes   = 64 << 10 // of a line that is believed; clean records stay below 16 KB
	maxReadRecords = 10_000   // held in memory by one reading: some 6 MB
)

// Filter says which records of a file are wanted. Zero fields do not filter.
type Filter struct {
	Since  time.Time // at or after
	Before time.Time // before
	Job    string
	PID    int
	Events []string
	Limit  int // the last so many; at most, and by default, 10,000
}

// Match reports whether the filter lets r through.
func (f Filter) Match(r Record) bool {
	return (f.Since.IsZero() || !r.Time.Before(f.Since)) &&
		(f.Before.IsZero() || r.Time.Before(f.Before)) &&
		(f.Job == "" || f.Job == r.Job) &&
		(f.PID == 0 || f.PID == r.PID) &&
		(len(f.Events) == 0 || slices.Contains(f.Events, r.Event))
}

// ReadFile reads records back, oldest first, from the file and its rotated
// ones. Lines that are no record, such as one torn by a power cut, are counted
// in skipped. A journal that was never written is an error that wraps
// fs.ErrNotExist.
func ReadFile(path string, f Filter) (records []Record, skipped int, err error) {
	files, err := openAll(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open journal: %w", err)
	}
	limit := f.Limit
	if limit <= 0 || limit > maxReadRecords {
		limit = maxReadRecords
	}
	for _, file := range slices.Backward(files) {
		n, scanErr := scan(file, func(r Record) {
			if !f.Match(r) {
				return
			}
			if len(records) == 2*limit {
				records = append(records[:0], records[limit:]...)
			}
			records = append(records, r)
		})
		skipped += n
		file.Close()
		if err == nil && scanErr != nil {
			err = fmt.Errorf("read journal: %w", scanErr)
		}
	}
	if len(records) > limit {
		records = records[len(records)-limit:]
	}
	return records, skipped, err
}

// openAll opens the newest file first. When the journal is rotated in between,
// a file is then found twice and told apart, where the other order would miss
// it.
func openAll(path string) ([]*os.File, error) {
	var files []*os.File
	var infos []os.FileInfo
	var first error
	for i := range keptFiles + 1 {
		f, err := os.OpenFile(rotated(path, i), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			var info os.FileInfo
			info, err = f.Stat()
			if err == nil && !info.Mode().IsRegular() {
				err = fmt.Errorf("%s is not an ordinary file", f.Name())
			}
			same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
			if err == nil && !slices.ContainsFunc(infos, same) {
				files, infos = append(files, f), append(infos, info)
				continue
			}
			f.Close()
		}
		if first == nil {
			first = err
		}
	}
	if len(files) == 0 {
		return nil, first
	}
	return files, nil
}

// scan calls each for the records of one file and counts the other lines.
func scan(r io.Reader, each func(Record)) (skipped int, err error) {
	lines := bufio.NewReaderSize(r, maxLineBytes)
	for {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return skipped, err
		}
		var record Record
		switch {
		case long:
			skipped++
		case len(line) == 0 || len(line) == 1 && line[0] == '\n':
		case json.Unmarshal(line, &record) != nil || record.Event == "":
			skipped++
		default:
			each(record)
		}
		if err == io.EOF {
			return skipped, nil
		}
	}
}
