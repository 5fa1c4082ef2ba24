package proc

import (
	"strings"
	"testing"
)

const containerID = "0abcdef0123456789abcdef0123456789abcdef0123456789abcdef012345678"

func TestContainerOf(t *testing.T) {
	const id = containerID
	for _, test := range []struct {
		name, path string
		shown      string // "" for none
		cgroup     string // "" for the whole path; "-" for none
		unit       string
	}{
		{"a session", "/user.slice/user-1000.slice/session-2.scope", "", "", ""},
		{"nothing", "", "", "", ""},
		{"the root", "/", "", "", ""},
		{"a job", "/user.slice/user-1000.slice/headroom-docker-0011aabb.scope", "", "", ""},
		{"an engine's service", "/system.slice/docker.service", "", "", ""},
		{"an engine's other service", "/system.slice/lxc-net.service", "", "", ""},
		{"docker", "/system.slice/docker-" + id + ".scope", "docker 0abcdef01234", "", "docker-" + id + ".scope"},
		{"below docker's", "/system.slice/docker-" + id + ".scope/init.scope", "docker 0abcdef01234", "/system.slice/docker-" + id + ".scope", "docker-" + id + ".scope"},
		{"docker, cgroupfs", "/docker/" + id, "docker 0abcdef01234", "", ""},
		{"docker's parent", "/docker", "docker", "-", ""},
		{"docker, a parent of its own", "/builds/" + id, "container 0abcdef01234", "", ""},
		{"docker, a unit's words", "/system.slice:docker:" + id, "docker 0abcdef01234", "", ""},
		{"buildkit in docker", "/docker/buildkit/xyz", "buildkit xyz", "", ""},
		{"buildkit's service", "/system.slice/buildkit.service/buildkit/xyz", "buildkit xyz", "", ""},
		{"buildkit's own", "/buildkit-7f.scope", "buildkit -7f", "", "buildkit-7f.scope"},
		{"podman", "/machine.slice/libpod-" + id + ".scope/container", "podman 0abcdef01234", "/machine.slice/libpod-" + id + ".scope", "libpod-" + id + ".scope"},
		{"rootless podman", "/user.slice/user-7.slice/user@7.service/user.slice/libpod-" + id + ".scope/container",
			"podman 0abcdef01234", "/user.slice/user-7.slice/user@7.service/user.slice/libpod-" + id + ".scope", "libpod-" + id + ".scope"},
		{"podman, cgroupfs", "/libpod_parent/libpod-" + id, "podman 0abcdef01234", "", ""},
		{"podman's monitor", "/machine.slice/libpod-conmon-" + id + ".scope", "podman", "-", ""},
		{"podman itself", "/user.slice/user-7.slice/user@7.service/user.slice/podman-7.scope", "podman", "-", ""},
		{"cri-o", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/crio-" + id + ".scope", "cri-o 0abcdef01234", "", "crio-" + id + ".scope"},
		{"cri-o's monitor", "/kubepods.slice/crio-conmon-" + id + ".scope", "cri-o", "-", ""},
		{"containerd in a pod", "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/cri-containerd-" + id + ".scope",
			"containerd 0abcdef01234", "", "cri-containerd-" + id + ".scope"},
		{"a pod, cgroupfs", "/kubepods/burstable/pod12-34/" + id, "kubernetes 0abcdef01234", "", ""},
		{"the pods", "/kubepods.slice/kubepods-besteffort.slice", "kubernetes", "-", ""},
		{"a pod's words", "/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:" + id, "containerd 0abcdef01234", "", ""},
		{"a pod itself", "/kubepods/burstable/pod12-34", "kubernetes", "-", ""},
		{"nerdctl", "/system.slice/nerdctl-" + id + ".scope", "containerd 0abcdef01234", "", "nerdctl-" + id + ".scope"},
		{"lxc", "/lxc.payload.web/system.slice/x.service", "lxc web", "/lxc.payload.web", ""},
		{"lxc, older", "/lxc/web/init.scope", "lxc web", "/lxc/web", ""},
		{"lxc's monitor", "/lxc.monitor.web", "lxc", "-", ""},
		{"nspawn's service", "/machine.slice/systemd-nspawn@deb\\x2d12.service/payload/system.slice/x.service", "nspawn deb-12",
			"/machine.slice/systemd-nspawn@deb\\x2d12.service", "systemd-nspawn@deb\\x2d12.service"},
		{"nspawn's scope", "/machine.slice/machine-deb.scope/payload", "nspawn deb", "/machine.slice/machine-deb.scope", "machine-deb.scope"},
		{"nspawn in a service", "/system.slice/ci.service/payload/x", "nspawn", "/system.slice/ci.service/payload", ""},
		{"a machine", "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "machine qemu-1-vm", "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "machine-qemu\\x2d1\\x2dvm.scope"},
		{"a service in machine.slice", "/machine.slice/x.service", "machine x", "", "x.service"},
		{"machine.slice itself", "/machine.slice", "machine", "-", ""},
		{"one in the other", "/lxc.payload.a/docker/" + id, "lxc a", "/lxc.payload.a", ""},
		{"incus", "/incus.payload.b", "incus .payload.b", "", ""},
		{"a hostile name", "/lxc.payload.a\x1b[2J\\x07 b\u202e", "lxc a?[2J??b?", "", ""},
		{"half an escape", "/lxc.payload.a\\x", `lxc a\x`, "", ""},
		{"no path", "docker", "docker", "-", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, ok := ContainerOf(test.path)
			if ok != (test.shown != "") {
				t.Fatalf("found %v: %+v", ok, c)
			}
			if !ok {
				return
			}
			cgroup := map[string]string{"": test.path, "-": ""}
			want, special := cgroup[test.cgroup]
			if !special {
				want = test.cgroup
			}
			if c.String() != test.shown || c.Cgroup != want || c.Unit != test.unit {
				t.Errorf("got %q in %q, unit %q\nwant %q in %q, unit %q", c, c.Cgroup, c.Unit, test.shown, want, test.unit)
			}
		})
	}
}

func FuzzContainerOf(f *testing.F) {
	f.Add("/system.slice/docker-" + containerID + ".scope/x")
	f.Add("/kubepods/burstable/pod1/" + containerID)
	f.Add("/docker/buildkit/docker")
	f.Fuzz(func(t *testing.T, path string) {
		c, ok := ContainerOf(path)
		switch {
		case !ok && c != (Container{}):
			t.Errorf("%q: none, and %+v", path, c)
		case ok && c.Engine == "":
			t.Errorf("%q: %+v", path, c)
		case len(c.Name) > maxContainerName, strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' || r > '~' }):
			t.Errorf("%q: name %q", path, c.Name)
		case !strings.HasPrefix(path, c.Cgroup):
			t.Errorf("%q: cgroup %q", path, c.Cgroup)
		}
	})
}
