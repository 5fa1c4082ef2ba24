package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"headroomd": main, "faked-selftest": fakedMain})
}

// TestScript runs the commands as a user would: testdata/script has a page for
// each of them. HEADROOM_UPDATE=1 rewrites the wanted outputs.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("HEADROOM_UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"admits":   scriptedGovernor,
			"exitcode": exitCode,
			"governor": fakeGovernor,
			"width":    widthOf,
		},
	})
}
