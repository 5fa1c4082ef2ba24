package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
)

func testExplainer(t *testing.T) *explainer {
	t.Helper()
	rules, err := classifier.New(classifier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &explainer{rules: rules, config: governor.Default(), claims: func() []admission.Claim { return nil }}
}

// A coprocess asks, waits for the answer, and asks again: an answer that was
// kept back for more input would be a deadlock. Half of the next question may
// have been sent already.
func TestStreamAnswersAtOnce(t *testing.T) {
	questions, asker := io.Pipe()
	answers, answerer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := testExplainer(t).stream(questions, answerer, explainFlags{}, encodeAnswer)
		answerer.Close()
		done <- err
	}()
	got := bufio.NewScanner(answers)
	for _, step := range []struct{ send, command string }{
		{"ls\nnpm t", "ls"},
		{"est\n", "npm test"},
		{"\n", ""},
	} {
		if _, err := io.WriteString(asker, step.send); err != nil {
			t.Fatal(err)
		}
		if !got.Scan() {
			t.Fatalf("no answer to %q: %v", step.command, got.Err())
		}
		var a answer
		if err := json.Unmarshal(got.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if a.Command != step.command {
			t.Errorf("answer to %q, want to %q", a.Command, step.command)
		}
	}
	asker.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestStreamStaysInStep(t *testing.T) {
	tooLong := strings.Repeat("x", maxLine+1)
	var out bytes.Buffer
	err := testExplainer(t).stream(strings.NewReader("ls\n"+tooLong+"\nnpm test\n"), &out, explainFlags{}, encodeAnswer)
	if err == nil {
		t.Error("a line that is too long: no error in the end")
	}
	var errorsSaid []string
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		errorsSaid = append(errorsSaid, a.Error)
	}
	if want := []string{"", errTooLong.Error(), ""}; strings.Join(errorsSaid, "|") != strings.Join(want, "|") {
		t.Errorf("errors %q, want %q", errorsSaid, want)
	}
}

func TestStreamBrokenInput(t *testing.T) {
	broken := errors.New("disk on fire")
	var out bytes.Buffer
	err := testExplainer(t).stream(io.MultiReader(strings.NewReader("ls\n"), errorReader{broken}), &out, explainFlags{}, encodeAnswer)
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d answers before the end, want 1", n)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestReadLine(t *testing.T) {
	tests := []struct {
		name, in string
		end      byte
		want     []string
	}{
		{"lines", "a\nb\n", '\n', []string{"a", "b"}},
		{"no end at the end", "a\nb", '\n', []string{"a", "b"}},
		{"blank lines count", "\n\na\n", '\n', []string{"", "", "a"}},
		{"nul", "a\nb\x00c\x00", 0, []string{"a\nb", "c"}},
		{"longer than the buffer", strings.Repeat("y", 50) + "\nz\n", '\n', []string{strings.Repeat("y", 50), "z"}},
		{"nothing", "", '\n', nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(tt.in), 16)
			var got []string
			for {
				line, err := readLine(r, tt.end)
				if err == io.EOF && len(line) == 0 {
					break
				}
				got = append(got, string(line))
				if err != nil {
					break
				}
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") || len(got) != len(tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
