package main

import (
	"github.com/spf13/cobra"

	"github.com/headroomd/headroomd/governor/doctor"
)

func fixMachine(cmd *cobra.Command, f doctorFlags, edits []doctor.Edit) error { return nil }
