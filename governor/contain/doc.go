// Package contain puts a job where it can hurt nobody: it catches a process
// right after its exec, moves it into a scope of its own and reads back from
// the kernel what is true afterwards.
//
// # Tiers
//
// Systemd asks the manager that owns the process's part of the tree (pid 1, or
// the user's own manager below user@UID.service) for a transient scope with a
// memory cap; without root it asks the user's own, and moves only what is that
// user's. Cgroupfs makes cgroups itself where no systemd does. None is what is
// left when nothing can be had: it places nothing and says so. Soft wraps any of
// them: where the kernel enforces no cap, it is kept by measuring. Each tier
// answers with values, never with a guess: a field that the kernel does not
// offer is -1 or in Scope.Notes.
//
// # What is moved, and what never
//
// Network, device and resource limits hang on a unit's cgroup, so moving a
// process out of a restricted unit would lift them with root's help. Look
// therefore refuses whatever a unit restricts, main and control processes,
// processes that could still notify their manager (a child's READY=1 is lost
// once it sits elsewhere), containers, and everything whose unit or slice is
// being stopped: a start in mode "replace" would cancel the administrator's
// stop, and a job that outlives its stopped origin is an escape too.
//
// # How a job ends with its origin
//
// PartOf= ends it with a later stop of the unit that it came from; Requisite=
// with After= has the manager refuse a start while that unit is being stopped;
// StopPropagatedFrom= (services, systemd 249) ends it with a restart of the
// service and with a service that ends by itself. Never BindsTo=.
//
// # Holding
//
// A job that is to wait is placed frozen (Spec.Frozen): the cgroup's freezer is
// on before the tracer lets the process go, so that it goes from the one stop
// into the other without an instruction in between. Signals tells what has come
// for it meanwhile, Thaw starts it, Stop ends it. Nothing stays frozen without
// a governor: ThawAll is what the service runs after its end, unless OwnUnit
// finds that the next one is on its way (then a timer does it), and what a
// guard process runs for a governor that no service manager looks after.
//
// # Owners
//
// Systemd owns its bus connections and the placeholders. Both are taken when
// first needed and given back by Close. Placeholders die with the thread that
// started them, so a killed daemon leaves none behind. For them the daemon
// wants CAP_SETUID, CAP_SETGID, CAP_KILL and CAP_SYS_RESOURCE.
package contain
