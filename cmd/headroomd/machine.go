package main

import (
	"github.com/headroomd/headroomd/governor"
	"github.com/headroomd/headroomd/governor/admission"
	"github.com/headroomd/headroomd/governor/watchdog"
)

// readMemory is the machine's memory for the commands that work without the
// governor, read below root ("/" outside tests). What cannot be read is
// watchdog.Unknown: a command about something else must not fail for it.
func readMemory(root string) watchdog.Reading {
	unknown := watchdog.Reading{MemTotal: watchdog.Unknown, MemAvailable: watchdog.Unknown, SwapTotal: watchdog.Unknown, SwapFree: watchdog.Unknown}
	reader, err := watchdog.NewReader(root)
	if err != nil {
		return unknown
	}
	reading, err := reader.Read()
	if err != nil {
		return unknown
	}
	return reading
}

// machineMemory is the same in the unit of the settings.
func machineMemory() admission.Machine { return governor.MachineOf(readMemory("/")) }
