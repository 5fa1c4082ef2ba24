package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/headroomd/headroomd/classifier"
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/journal"
)

// rulesInForce are the rules by which the governor that is asked decides, read
// from its files: they are told also while it does not run.
type rulesInForce struct {
	set    *classifier.Set
	config governor.Config
	dir    string
	faults []error // of files that are left out
}

// rulesAt finds the rules in force; config and dir are files that were named
// instead of the governor's, or "".
func rulesAt(config, dir, socket string) (rulesInForce, error) {
	p := placesInForce(socket)
	var r rulesInForce
	switch c, err := settingsAt(p, config); {
	case err == nil:
		r.config = c
	case config == "" && errors.Is(err, fs.ErrPermission):
		// Without the owner's patterns, which is more than no answer.
		r.config = governor.Default()
		r.faults = append(r.faults, err)
	default:
		return r, err
	}
	t := trustOf(p)
	if r.dir = dir; dir == "" {
		r.dir = p.rulesDir()
	} else {
		t = trust{anybody: true}
		if _, err := os.ReadDir(dir); err != nil {
			return r, fmt.Errorf("read the rules of %s: %w", dir, plainCause(err))
		}
	}
	var faults []error
	r.set, faults = loadRulesFrom(r.dir, t, r.config)
	r.faults = append(r.faults, faults...)
	return r, nil
}

// placesInForce are those of the governor that commands ask: the machine's, and
// where there is none this user's own.
func placesInForce(socket string) places {
	machine := placesOf(true)
	if os.Geteuid() == 0 || socket == machine.socket {
		return machine
	}
	if socket == "" {
		if _, err := os.Stat(machine.socket); err == nil {
			return machine
		}
	}
	return placesOf(false)
}

// settingsAt are the settings of the named file, or those at p, if any.
func settingsAt(p places, named string) (governor.Config, error) {
	if named != "" {
		return governor.Load(named)
	}
	c, err := governor.Load(p.config)
	if errors.Is(err, fs.ErrNotExist) {
		return governor.Default(), nil
	}
	return c, err
}

// tellFaults tells a person what of the owner's rules is not in force.
func tellFaults(w io.Writer, faults []error) {
	if len(faults) == 0 {
		return
	}
	for _, err := range faults {
		fmt.Fprintln(w, "headroomd:", journal.Escape(err.Error(), 1000))
	}
	fmt.Fprintln(w, "headroomd: answered without the files named above; \"headroomd rules check\" says when they are right")
}
