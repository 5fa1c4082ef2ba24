package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/classifier/lighten"
	"github.com/headroomd/headroomd/governor/journal"
)

func newEnvCommand() *cobra.Command {
	var shell, config, socket string
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print variables that have build tools use fewer workers here",
		Long: `Print variables that have build tools and test runners use fewer workers, and
Node a smaller heap, by the memory and the processors of this machine. What is
set in the environment already is left as it is.

For a shell, in its profile:    eval "$(headroomd env)"
For fish, in config.fish:       headroomd env --shell fish | source
For services (EnvironmentFile): headroomd env --shell systemd`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			form := cmp.Or(shell, shellOfUser())
			if !slices.Contains(envForms, form) {
				return usagef("env: --shell %q is none of %s%s", form, strings.Join(envForms, ", "), meant(nearest(form, envForms)))
			}
			e, err := newExplainer(cmd.Context(), config, socket)
			if err != nil {
				return err
			}
			printEnv(cmd.OutOrStdout(), form, variables(e.capNow().MemoryMB, runtime.NumCPU()), os.LookupEnv)
			return nil
		},
	}
	cmd.Flags().StringVar(&shell, "shell", "", "write for `SHELL`: sh, fish or systemd (default: by $SHELL)")
	cmd.Flags().StringVar(&config, "config", "", "read the settings from `FILE`")
	socketFlag(cmd, &socket)
	return cmd
}

var envForms = []string{"sh", "fish", "systemd"}

// shellOfUser is the form that the user's shell reads.
func shellOfUser() string {
	if path.Base(os.Getenv("SHELL")) == "fish" {
		return "fish"
	}
	return "sh"
}

// variable is one variable, and which programs read it.
type variable struct{ name, value, about string }

// variables are those for jobs with a cap of so many MB.
func variables(capMB int64, cpus int) []variable {
	n := fmt.Sprint(lighten.Workers(cpus, capMB))
	all := []variable{
		{"MAKEFLAGS", "-j" + n, "make; a -j on its line wins"},
		{"CMAKE_BUILD_PARALLEL_LEVEL", n, "cmake --build, ninja below it"},
		{"CTEST_PARALLEL_LEVEL", n, "ctest"},
		{"CARGO_BUILD_JOBS", n, "cargo"},
		{"GOFLAGS", "-p=" + n, "go build, test, vet"},
		{"GRADLE_OPTS", "-Dorg.gradle.workers.max=" + n, "gradle"},
		{"NX_PARALLEL", n, "nx"},
		{"TURBO_CONCURRENCY", n, "turbo"},
		{"JOBS", n, "node-gyp"},
		{"BUNDLE_JOBS", n, "bundle install"},
		{"UV_CONCURRENT_BUILDS", n, "uv"},
		{"POETRY_INSTALLER_MAX_WORKERS", n, "poetry install"},
		{"PYTEST_XDIST_AUTO_NUM_WORKERS", n, "pytest -n auto"},
		{"XZ_DEFAULTS", "-T1", "xz: memory grows with the threads"},
		{"ZSTD_NBTHREADS", n, "zstd"},
	}
	if heap := lighten.HeapMB(capMB); heap > 0 {
		all = append(all, variable{"NODE_OPTIONS", fmt.Sprintf("--max-old-space-size=%d", heap), "node: it says so when its heap is full, instead of being killed"})
	}
	return all
}

// printEnv writes the variables that are not set yet.
func printEnv(w io.Writer, form string, all []variable, lookUp func(string) (string, bool)) {
	for _, v := range all {
		if old, set := lookUp(v.name); set && old != "" {
			fmt.Fprintf(w, "# %s is set already: %s\n", v.name, journal.Escape(old, 60))
			continue
		}
		fmt.Fprintf(w, "# %s\n", v.about)
		switch form {
		case "fish":
			fmt.Fprintf(w, "set -gx %s '%s';\n", v.name, v.value)
		case "systemd":
			fmt.Fprintf(w, "%s=%s\n", v.name, v.value)
		default:
			fmt.Fprintf(w, "export %s='%s'\n", v.name, v.value)
		}
	}
}
