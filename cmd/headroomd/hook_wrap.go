package main

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/headroomd/headroomd/classifier"
)

// leadingCd is a change of directory that the rest of a line hangs on, without
// anything in it that a shell would expand in more than one way.
var leadingCd = regexp.MustCompile(`^\s*cd\s+(?:[^\s;&|<>()'"` + "`" + `$\\*?]+|'[^']*'|"[^"` + "`" + `$\\]*")\s*&&\s*`)

// shellState are the words that change the shell which runs them. Agents keep
// their shell's directory and variables from one command to the next, so what
// has one of these cannot be handed to another shell.
var shellState = []string{"cd", "pushd", "popd", "unset", "set", "shopt", "alias", "unalias", "source", ".",
	"umask", "ulimit", "exec", "trap", "wait", "jobs", "fg", "bg", "disown", "eval"}

// wrapLine has a line run by `headroomd run`. It reports false for one that
// cannot be handed to another shell; the governor sees such a one at its exec,
// where there is a governor.
func wrapLine(rules *classifier.Set, line string) (string, bool) {
	cd := leadingCd.FindString(line)
	rest := line[len(cd):]
	if v := rules.Line(rest); !v.Parsed || v.Class != classifier.Heavy || changesShell(rest) {
		return line, false
	}
	return cd + "headroomd run --no-lighten -c " + quoteShell(strings.TrimRight(rest, " \t\n")), true
}

// changesShell reports whether a line leaves something behind in the shell that
// runs it.
func changesShell(line string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return true
	}
	changes := false
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause, *syntax.FuncDecl:
			changes = true
		case *syntax.Stmt:
			changes = changes || n.Background
		case *syntax.CallExpr:
			changes = changes || len(n.Args) == 0 || slices.Contains(shellState, n.Args[0].Lit())
		}
		return !changes
	})
	return changes
}

// quoteShell makes one word of a text for every POSIX shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
