// Package vmtests asks a real kernel. It builds a Debian image, boots it in
// QEMU, runs the test binary of vmtests/guest inside it as root, and shows each
// guest test as an ordinary subtest of TestGuest.
//
// A machine under software emulation needs no rights and no /dev/kvm, and it is
// 20 to 50 times slower than the one it runs on. Tests therefore wait for
// conditions with generous deadlines and compare ratios.
//
// Nothing is booted unless HEADROOM_VM=1 is set (make vmtest does):
//
//	HEADROOM_VM=1        boot; a missing program is a failure, not a skip
//	HEADROOM_VM_SUITE    Debian suites, separated by commas (default trixie)
//	HEADROOM_VM_RUN      regular expression of guest tests, as for go test -run
//	HEADROOM_VM_GROUP    groups to boot, separated by commas (default all)
//	HEADROOM_VM_MIRROR   Debian mirror for the image build
//	HEADROOM_VM_CACHE    where images are kept (default $XDG_CACHE_HOME/headroomd-vm)
//	HEADROOM_VM_KEEP=1   leave the machine up after the tests, with a root shell
//	                     on its console; the test says how to reach it and waits
//
// Five things take part. An Image is a root disk with its kernel, cached by a
// hash of what it is made from. A Payload is a second disk with the daemon and
// the guest's tests, made anew for each run. A Machine is QEMU with both disks.
// Its results come back over a virtio serial port as a stream that Replay turns
// into subtests; its journal comes over another one, so that it survives a
// machine that dies.
package vmtests
