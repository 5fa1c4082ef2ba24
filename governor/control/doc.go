// Package control lets other programs ask the governor: HTTP with JSON over a
// Unix socket.
//
//	GET /v1/status                      the snapshot
//	GET /v1/events?since=1h&follow=1    records of the journal, a JSON object a line
//
// Anybody on the machine may ask. Who asks is the kernel's word (SO_PEERCRED):
// root and the user that the governor runs as see everything; of other users'
// jobs and processes one sees family, pid, age and memory. Nothing that a
// client does or leaves undone may make the governor wait: clients are
// counted, requests are small, and reading and writing have deadlines.
package control
