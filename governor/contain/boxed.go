package contain

import (
	"fmt"
	"reflect"
	"strings"
)

// A restriction is a unit property that hangs on the unit's cgroup: a process
// that is moved out is rid of it.
type restriction struct {
	name string
	set  func(v any) bool
}

// restrictions are looked for in the unit's own interface ("Service",
// "Scope"). An older systemd has fewer of them: what it does not know cannot
// restrict anything.
var restrictions = []restriction{
	{"IPAddressAllow", notEmpty},
	{"IPAddressDeny", notEmpty},
	{"IPIngressFilterPath", notEmpty},
	{"IPEgressFilterPath", notEmpty},
	{"BPFProgram", notEmpty},
	{"DeviceAllow", notEmpty},
	{"DevicePolicy", func(v any) bool { s, ok := v.(string); return ok && s != "auto" && s != "" }},
	{"SocketBindAllow", notEmpty},
	{"SocketBindDeny", notEmpty},
	{"RestrictNetworkInterfaces", listed},
	{"RestrictFileSystems", listed},
	{"NFTSet", notEmpty},
	{"MemoryMax", finite},
	{"MemoryHigh", finite},
	{"MemorySwapMax", finite},
	{"MemoryZSwapMax", finite},
	{"CPUQuotaPerSecUSec", finite},
	{"AllowedCPUs", notEmpty},
	{"AllowedMemoryNodes", notEmpty},
	{"IOReadBandwidthMax", notEmpty},
	{"IOWriteBandwidthMax", notEmpty},
	{"IOReadIOPSMax", notEmpty},
	{"IOWriteIOPSMax", notEmpty},
	{"PrivateUsers", func(v any) bool { b, ok := v.(bool); return ok && b }},
	{"Delegate", func(v any) bool { b, ok := v.(bool); return ok && b }},
}

// settingNames are the names under which an administrator knows a property
// whose D-Bus name differs.
var settingNames = map[string]string{"CPUQuotaPerSecUSec": "CPUQuota"}

// Boxed says in plain words why moving a process out of a unit would lift a
// restriction of it, or "" if nothing restricts it. props are the properties
// of the unit's interface; defaultTasks is the manager's DefaultTasksMax, 0
// where unknown; except names properties that do not count.
func Boxed(unit string, props map[string]any, defaultTasks uint64, except ...string) string {
	var limits []string
	for _, r := range restrictions {
		if v, ok := props[r.name]; ok && r.set(v) && !contains(except, r.name) {
			name := r.name
			if s := settingNames[name]; s != "" {
				name = s
			}
			limits = append(limits, name)
		}
	}
	// TasksMax is set on every unit; the manager's default is no decision of
	// the unit's.
	if v, ok := props["TasksMax"].(uint64); ok && v != Infinity && v != defaultTasks {
		limits = append(limits, "TasksMax")
	}
	switch {
	case len(limits) == 0:
		return ""
	case len(limits) == 1 && limits[0] == "Delegate":
		return fmt.Sprintf("%s manages the cgroups below it itself (Delegate)", unit)
	}
	return fmt.Sprintf("%s limits %s: moving its process out would lift that", unit, strings.Join(limits, ", "))
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// finite is a size or a count other than "no limit".
func finite(v any) bool {
	n, ok := v.(uint64)
	return ok && n != Infinity
}

// notEmpty is a list or a string with something in it.
func notEmpty(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.String, reflect.Map:
		return r.Len() > 0
	}
	return false
}

// listed is a pair of "is an allow list" and the list. An empty allow list
// allows nothing, so the flag alone restricts.
func listed(v any) bool {
	pair, ok := v.([]any)
	if !ok || len(pair) != 2 {
		return notEmpty(v)
	}
	allow, _ := pair[0].(bool)
	return allow || notEmpty(pair[1])
}
