package contain

import "testing"

func TestBoxed(t *testing.T) {
	// The shapes of an unrestricted service, as systemd 257 answers.
	free := map[string]any{
		"IPAddressAllow": [][]any{}, "IPAddressDeny": [][]any{}, "DeviceAllow": [][]any{}, "DevicePolicy": "auto",
		"SocketBindAllow": [][]any{}, "RestrictNetworkInterfaces": []any{false, []string{}}, "RestrictFileSystems": []any{false, []string{}},
		"MemoryMax": Infinity, "MemoryHigh": Infinity, "MemorySwapMax": Infinity, "TasksMax": uint64(1131),
		"CPUQuotaPerSecUSec": Infinity, "AllowedCPUs": []byte{}, "PrivateUsers": false, "Delegate": false, "KillMode": "mixed",
	}
	for _, c := range []struct {
		name  string
		props map[string]any
		want  string
	}{
		{"nothing", nil, ""},
		{"deny", map[string]any{"IPAddressDeny": [][]any{{int32(2), []byte{0, 0, 0, 0}, uint32(0)}}}, "u limits IPAddressDeny: moving its process out would lift that"},
		{"allow", map[string]any{"IPAddressAllow": [][]any{{1}}}, "u limits IPAddressAllow: moving its process out would lift that"},
		{"device policy", map[string]any{"DevicePolicy": "closed"}, "u limits DevicePolicy: moving its process out would lift that"},
		{"devices", map[string]any{"DeviceAllow": [][]any{{"/dev/null", "rw"}}}, "u limits DeviceAllow: moving its process out would lift that"},
		{"bind", map[string]any{"SocketBindDeny": [][]any{{1}}}, "u limits SocketBindDeny: moving its process out would lift that"},
		{"interfaces", map[string]any{"RestrictNetworkInterfaces": []any{false, []string{"lo"}}}, "u limits RestrictNetworkInterfaces: moving its process out would lift that"},
		{"no interfaces at all", map[string]any{"RestrictNetworkInterfaces": []any{true, []string{}}}, "u limits RestrictNetworkInterfaces: moving its process out would lift that"},
		{"memory", map[string]any{"MemoryMax": uint64(1 << 30)}, "u limits MemoryMax: moving its process out would lift that"},
		{"memory of 0", map[string]any{"MemoryHigh": uint64(0)}, "u limits MemoryHigh: moving its process out would lift that"},
		{"tasks", map[string]any{"TasksMax": uint64(77)}, "u limits TasksMax: moving its process out would lift that"},
		{"tasks without a limit", map[string]any{"TasksMax": Infinity}, ""},
		{"quota, by its setting's name", map[string]any{"CPUQuotaPerSecUSec": uint64(500000)}, "u limits CPUQuota: moving its process out would lift that"},
		{"cpus", map[string]any{"AllowedCPUs": []byte{1}}, "u limits AllowedCPUs: moving its process out would lift that"},
		{"users", map[string]any{"PrivateUsers": true}, "u limits PrivateUsers: moving its process out would lift that"},
		{"two", map[string]any{"MemoryMax": uint64(1), "DevicePolicy": "strict"}, "u limits DevicePolicy, MemoryMax: moving its process out would lift that"},
		{"delegate", map[string]any{"Delegate": true}, "u manages the cgroups below it itself (Delegate)"},
		{"delegate and more", map[string]any{"Delegate": true, "MemoryMax": uint64(1)}, "u limits MemoryMax, Delegate: moving its process out would lift that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			props := make(map[string]any)
			for _, from := range []map[string]any{free, c.props} {
				for k, v := range from {
					props[k] = v
				}
			}
			if got := Boxed("u", props, 1131); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := Boxed("u", map[string]any{"Delegate": true}, 0, "Delegate"); got != "" {
		t.Errorf("excepted: %q", got)
	}
	if got := Boxed("u", map[string]any{"TasksMax": uint64(1131)}, 0); got == "" {
		t.Error("a TasksMax while the default is unknown is no restriction")
	}
	if got := Boxed("u", nil, 0); got != "" {
		t.Errorf("a systemd that knows no property: %q", got)
	}
}
