package contain

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseOrigin(t *testing.T) {
	for _, c := range []struct {
		name, path string
		want       Origin // Cgroup is filled in; of Refuse a part
	}{
		{"a login session", inSession,
			Origin{Unit: "session-2.scope", Kind: "session", Manager: "system", Slice: "user-1000.slice", PartOf: "session-2.scope"}},
		{"a system service", "/system.slice/ssh.service",
			Origin{Unit: "ssh.service", Kind: "service", Manager: "system", Slice: "system.slice", PartOf: "ssh.service"}},
		{"a templated service", "/system.slice/system-runner.slice/runner@1.service",
			Origin{Unit: "runner@1.service", Kind: "service", Manager: "system", Slice: "system-runner.slice", PartOf: "runner@1.service"}},
		{"a unit below no slice", "/odd.scope",
			Origin{Unit: "odd.scope", Kind: "scope", Manager: "system", Slice: "-.slice", PartOf: "odd.scope"}},
		{"a user's scope", inUser,
			Origin{Unit: "vte-spawn-1.scope", Kind: "scope", Manager: "user-1000", Slice: "app.slice", PartOf: "vte-spawn-1.scope"}},
		{"a user's service in a deep slice", "/user.slice/user-7.slice/user@7.service/app.slice/app-org.slice/a.service",
			Origin{Unit: "a.service", Kind: "service", Manager: "user-7", Slice: "app-org.slice", PartOf: "a.service"}},
		{"a user's unit below no slice", "/user.slice/user-7.slice/user@7.service/a.scope",
			Origin{Unit: "a.scope", Kind: "scope", Manager: "user-7", Slice: "-.slice", PartOf: "a.scope"}},
		{"a session's name in a user's tree", "/user.slice/user-7.slice/user@7.service/app.slice/session-1.scope",
			Origin{Unit: "session-1.scope", Kind: "scope", Manager: "user-7", Slice: "app.slice", PartOf: "session-1.scope"}},
		{"a job", "/user.slice/user-1000.slice/headroom-npm-0011aabb.scope",
			Origin{Unit: "headroom-npm-0011aabb.scope", Kind: "job", Manager: "system", Slice: "user-1000.slice"}},
		{"a job of a user's", "/user.slice/user-1000.slice/user@1000.service/app.slice/headroom-npm-0011aabb.scope",
			Origin{Unit: "headroom-npm-0011aabb.scope", Kind: "job", Manager: "user-1000", Slice: "app.slice"}},
		{"inside a job", "/system.slice/headroom-make-0011aabb.scope/sub",
			Origin{Unit: "headroom-make-0011aabb.scope", Kind: "job", Manager: "system", Slice: "system.slice"}},

		{"unknown", "", Origin{Kind: "none", Refuse: "not known"}},
		{"no path", "x", Origin{Kind: "none", Refuse: "no cgroup path"}},
		{"the root", "/", Origin{Kind: "none", Refuse: "root cgroup"}},
		{"pid 1", "/init.scope", Origin{Unit: "init.scope", Kind: "none", Manager: "system", Slice: "-.slice", Refuse: "service manager"}},
		{"outside our namespace", "/../x.scope", Origin{Kind: "none", Refuse: "namespace"}},
		{"a slice itself", "/system.slice", Origin{Unit: "system.slice", Kind: "slice", Manager: "system", Slice: "system.slice", Refuse: "outside any unit"}},
		{"no unit", "/mygroup/a", Origin{Unit: "mygroup", Kind: "none", Manager: "system", Slice: "-.slice", Refuse: "no unit"}},
		{"the user's manager", "/user.slice/user-7.slice/user@7.service/init.scope",
			Origin{Unit: "init.scope", Kind: "user-manager", Manager: "user-7", Slice: "-.slice", Refuse: "service manager"}},
		{"user@ itself", "/user.slice/user-7.slice/user@7.service",
			Origin{Unit: "user@7.service", Kind: "user-manager", Manager: "user-7", Refuse: "own manager"}},
		{"below a unit", "/system.slice/ci.service/build",
			Origin{Unit: "ci.service", Kind: "service", Manager: "system", Slice: "system.slice", Refuse: "made for itself"}},
		{"docker, systemd driver", "/system.slice/docker-0f.scope", Origin{Unit: "docker-0f.scope", Kind: "container", Manager: "system", Slice: "system.slice", Refuse: "container"}},
		{"docker, cgroupfs driver", "/docker/0f", Origin{Unit: "docker", Kind: "container", Manager: "system", Slice: "-.slice", Refuse: "container"}},
		{"rootless podman", "/user.slice/user-7.slice/user@7.service/user.slice/libpod-0f.scope/container",
			Origin{Unit: "libpod-0f.scope", Kind: "container", Manager: "user-7", Slice: "user.slice", Refuse: "container"}},
		{"kubernetes", "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/cri-containerd-0f.scope",
			Origin{Unit: "cri-containerd-0f.scope", Kind: "container", Manager: "system", Slice: "kubepods-besteffort-pod1.slice", Refuse: "container"}},
		{"nspawn", "/machine.slice/systemd-nspawn@deb.service/payload/system.slice/x.service",
			Origin{Unit: "systemd-nspawn@deb.service", Kind: "container", Manager: "system", Slice: "machine.slice", Refuse: "container"}},
		{"lxc", "/lxc.payload.c1/system.slice/x.service", Origin{Unit: "lxc.payload.c1", Kind: "container", Manager: "system", Slice: "-.slice", Refuse: "container"}},
		{"a snap", "/user.slice/user-7.slice/user@7.service/app.slice/snap.firefox.firefox-1.scope",
			Origin{Unit: "snap.firefox.firefox-1.scope", Kind: "scope", Manager: "user-7", Slice: "app.slice", Refuse: "snap"}},
		{"a user's manager of a hostile name", "/user.slice/user@..service/x.scope",
			Origin{Unit: "user@..service", Kind: "service", Manager: "system", Slice: "user.slice", Refuse: "made for itself"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ParseOrigin(c.path)
			if (c.want.Refuse == "") != (got.Refuse == "") || !strings.Contains(got.Refuse, c.want.Refuse) {
				t.Errorf("Refuse %q, want %q in it", got.Refuse, c.want.Refuse)
			}
			want := c.want
			want.Cgroup, want.Refuse = c.path, got.Refuse
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestOriginAbove(t *testing.T) {
	for _, c := range []struct {
		name, path    string
		slices, outer []string
	}{
		{"system", inSession, []string{"user-1000.slice", "user.slice", "-.slice"}, nil},
		{"user", inUser, []string{"app.slice", "-.slice"},
			[]string{"user@1000.service", "user-runtime-dir@1000.service", "user-1000.slice", "user.slice", "-.slice"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ParseOrigin(c.path)
			if got := o.Slices(); !reflect.DeepEqual(got, c.slices) {
				t.Errorf("Slices %q, want %q", got, c.slices)
			}
			if got := o.outerUnits(); !reflect.DeepEqual(got, c.outer) {
				t.Errorf("outer %q, want %q", got, c.outer)
			}
		})
	}
}

func FuzzParseOrigin(f *testing.F) {
	f.Add(inSession)
	f.Add(inUser)
	f.Add("/a.slice/user@1.service/../x")
	f.Fuzz(func(t *testing.T, path string) {
		o := ParseOrigin(path)
		if o.Refuse == "" && (o.Unit == "" || o.Slice == "" || o.Manager == "") {
			t.Errorf("%q may be moved without %+v", path, o)
		}
		o.Slices()
		if o.Manager != SystemManager && o.Manager != "" && len(o.outerUnits()) == 0 {
			t.Errorf("%q: a user's manager in nothing", path)
		}
	})
}
