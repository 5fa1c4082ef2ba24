// Package fault marks the steps at which a test may kill the governor, kill
// the process that it holds, or make it slow.
//
// In an ordinary build At is empty and vanishes. Built with the tag
// "faultpoints" it obeys two environment variables:
//
//	HEADROOMD_FAULT=NAME:self-kill      SIGKILL to the governor at the point NAME
//	HEADROOMD_FAULT=NAME:tracee-kill    SIGKILL to the process the point is about
//	HEADROOMD_FAULT=NAME:sleep=MS       a sleep of MS milliseconds
//	HEADROOMD_FAULT_COMM=COMM           only for processes of that comm
//
// Several faults are separated by commas. The points of a catch, in their
// order: read, judged, seized, interrupted, stopped, delivered, released,
// detached.
package fault
