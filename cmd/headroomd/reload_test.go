package main

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
	"github.com/headroomd/headroomd/governor/note"
	"github.com/headroomd/headroomd/loader"
	"github.com/headroomd/headroomd/loader/proc"
)

// namedSource notes which names it is to tell of.
type namedSource struct {
	dyingSource
	names map[string]uint32
	all   bool
}

func (s *namedSource) SetNames(names map[string]uint32, all bool) error {
	s.names, s.all = maps.Clone(names), all
	return nil
}

func TestWatchUsesOtherRules(t *testing.T) {
	source := &namedSource{}
	w := &watch{source: source, can: true, choice: loader.Choice{Name: "bpf"}}
	rules, errs := classifier.New(classifier.Options{ExtraHeavy: []string{"^train"}})
	if errs != nil {
		t.Fatal(errs)
	}
	if err := w.use(rules, true); err != nil {
		t.Fatal(err)
	}
	if len(source.names) < 100 || !source.all || !w.catch.Load() {
		t.Errorf("%d names, all %v, catches %v", len(source.names), source.all, w.catch.Load())
	}
	if s := w.Status(); !s.ReportAll || s.Names != len(source.names) {
		t.Errorf("status tells %+v", s)
	}
	if err := w.use(classifier.Builtin(), false); err != nil {
		t.Fatal(err)
	}
	if source.all || w.catch.Load() {
		t.Errorf("all %v, catches %v, want neither", source.all, w.catch.Load())
	}
	// Where nothing can be stopped, settings do not change that.
	w.can = false
	if err := w.use(classifier.Builtin(), true); err != nil || w.catch.Load() {
		t.Errorf("catches without being able to, %v", err)
	}
}

// Settings that cannot be read leave everything as it was.
func TestReloadKeepsTheOldSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headroom.toml")
	if err := os.WriteFile(file, []byte("mode = \"enforce\"\nreserve = 100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var told []journal.Record
	source := &namedSource{}
	r := &reloader{
		places: places{config: file}, judge: governor.NewJudge(proc.NewFS("/proc"), classifier.Builtin(), os.Getpid()),
		watch: &watch{source: source}, notes: note.New(proc.NewFS("/proc"), note.Off),
		record: func(r journal.Record) { told = append(told, r) }, log: slog.New(slog.DiscardHandler),
	}
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the old settings stay") || !strings.Contains(err.Error(), "headroom.toml:2") {
		t.Errorf("got %v", err)
	}
	if source.names != nil {
		t.Error("the source was changed")
	}
	if len(told) != 1 || !strings.Contains(told[0].Reason, "headroom.toml:2") {
		t.Errorf("told %+v", told)
	}
}
