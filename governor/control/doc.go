// Package control lets other programs ask the governor: HTTP with JSON over a
// Unix socket, the asker known by the kernel's word (SO_PEERCRED).
package control
