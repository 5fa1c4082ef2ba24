package proc

import (
	"strconv"
	"strings"
)

// Container is the container that a cgroup is part of, as far as the path
// alone tells: all engines name their cgroups, and nothing else is the same for
// all of them.
type Container struct {
	Engine string // "docker", "podman", "nspawn", …; "container" for one that only its id gives away
	Name   string // short id or machine name, printable and bounded; "" unknown
	// Cgroup is the container's own cgroup, the outermost where one is in the
	// other: what is below it belongs to what runs inside. It is "" where the
	// path names only an engine's parent or its monitor, which are no container.
	Cgroup string
	Unit   string // the systemd unit that Cgroup is, "docker-….scope"; "" for none
}

func (c Container) String() string {
	if c.Name == "" {
		return c.Engine
	}
	return c.Engine + " " + c.Name
}

// engineMark is how an engine names cgroups. This is the only list of them.
type engineMark struct {
	prefix, engine string
	kind           markKind
}

type markKind int

const (
	markOwn     markKind = iota // a component with this prefix is a container
	markParent                  // the component that is this word has containers below it
	markTree                    // a component with this prefix has groups of containers below it
	markMonitor                 // a component with this prefix watches over a container
	markWord                    // the component that is this word is a container
)

// The first that fits counts.
var engineMarks = []engineMark{
	{"libpod-conmon-", "podman", markMonitor}, {"crio-conmon-", "cri-o", markMonitor}, {"conmon-", "podman", markMonitor},
	{"lxc.monitor", "lxc", markMonitor},
	// What podman's own processes sit in; with cgroups switched off those of its
	// containers as well.
	{"podman-", "podman", markMonitor},
	{"kubepods", "kubernetes", markTree},
	{"machine.slice", "machine", markParent}, {"docker", "docker", markParent}, {"docker.slice", "docker", markParent},
	{"podman", "podman", markParent}, {"libpod_parent", "podman", markParent}, {"lxc", "lxc", markParent},
	{"lxc.payload", "lxc", markParent}, {"containerd", "containerd", markParent}, {"k8s.io", "containerd", markParent},
	{"buildkit", "buildkit", markParent}, {"garden", "garden", markParent},
	{"docker-", "docker", markOwn}, {"libpod-", "podman", markOwn}, {"libpod_", "podman", markOwn},
	{"crio-", "cri-o", markOwn}, {"cri-containerd-", "containerd", markOwn}, {"nerdctl-", "containerd", markOwn},
	{"containerd-", "containerd", markOwn}, {"lxc.payload.", "lxc", markOwn}, {"lxc-", "lxc", markOwn},
	{"buildkit", "buildkit", markOwn}, {"machine-", "machine", markOwn}, {"systemd-nspawn@", "nspawn", markOwn},
	{"garden-", "garden", markOwn}, {"incus", "incus", markOwn}, {"payload", "nspawn", markWord},
}

// ContainerOf finds the container that a cgroup is, or is below. cgroup is a
// path in the unified hierarchy.
func ContainerOf(cgroup string) (Container, bool) {
	for at := 0; at < len(cgroup); {
		part, end := nextPart(cgroup, at)
		if m, ok := markOf(part); ok {
			return containerAt(cgroup, at, m), true
		}
		at = end
	}
	return Container{}, false
}

// nextPart is the component that begins after the slash at that place, and
// where it ends.
func nextPart(path string, at int) (part string, end int) {
	if path[at] == '/' {
		at++
	}
	end = len(path)
	if i := strings.IndexByte(path[at:], '/'); i >= 0 {
		end = at + i
	}
	return path[at:end], end
}

// markOf is what a component says. A service that is named after an engine is
// that engine's daemon and no container.
func markOf(part string) (engineMark, bool) {
	if part == "" || strings.HasSuffix(part, ".service") && !strings.HasPrefix(part, "systemd-nspawn@") {
		return engineMark{}, false
	}
	// "system.slice:docker:ID", a cgroup driver that was given a unit's words.
	if words := strings.Split(part, ":"); len(words) == 3 && strings.HasSuffix(words[0], ".slice") {
		own := engineMark{prefix: words[0] + ":" + words[1] + ":", engine: "container", kind: markOwn}
		if m, ok := markOf(words[1] + "-"); ok {
			own.engine = m.engine
		}
		return own, true
	}
	for _, m := range engineMarks {
		whole := m.kind == markParent || m.kind == markWord
		if part == m.prefix || !whole && strings.HasPrefix(part, m.prefix) {
			return m, true
		}
	}
	if isContainerID(part) {
		return engineMark{engine: "container", kind: markOwn}, true
	}
	return engineMark{}, false
}

// isContainerID recognises the 64 hex digits by which engines know their
// containers, whatever parent they were given.
func isContainerID(part string) bool {
	return len(part) == 64 && strings.Trim(part, "0123456789abcdef") == ""
}

// containerAt describes the container of a path whose component at a place has
// a mark.
func containerAt(cgroup string, at int, m engineMark) Container {
	part, end := nextPart(cgroup, at)
	for m.kind == markParent || m.kind == markTree {
		if end >= len(cgroup)-1 {
			return Container{Engine: m.engine}
		}
		engine := m.engine
		part, end = nextPart(cgroup, end)
		switch inner, ok := markOf(part); {
		case ok:
			m = inner
			if m.engine == "container" {
				m.engine = engine
			}
		case m.kind == markParent:
			m = engineMark{engine: engine, kind: markOwn}
		}
	}
	if m.kind == markMonitor {
		return Container{Engine: m.engine}
	}
	c := Container{Engine: m.engine, Cgroup: cgroup[:end], Name: containerName(strings.TrimPrefix(part, m.prefix))}
	if strings.HasSuffix(part, ".scope") || strings.HasSuffix(part, ".service") {
		c.Unit = part
	}
	if m.engine == "machine" && strings.HasPrefix(cgroup[end:], "/payload") {
		c.Engine = "nspawn"
	}
	return c
}

// maxContainerName bounds a name, in bytes: one chosen by a user may be as
// long as a file's.
const maxContainerName = 40

// containerName is a name as it is shown: an id as its first 12 digits, which
// is what the engines' own tools show.
func containerName(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".scope"), ".service")
	name = unescapeUnit(name)
	if isContainerID(name) {
		return name[:12]
	}
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '?'
		}
		return r
	}, name)
	return name[:min(len(name), maxContainerName)]
}

// unescapeUnit undoes systemd's \xNN.
func unescapeUnit(name string) string {
	if !strings.Contains(name, `\x`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if strings.HasPrefix(name[i:], `\x`) && i+4 <= len(name) {
			if n, err := strconv.ParseUint(name[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
