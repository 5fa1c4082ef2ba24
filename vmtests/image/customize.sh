#!/bin/sh
# Runs as a hook of mmdebstrap, outside the new system: $1 is its root, $OUT the
# directory that receives root.ext4, vmlinuz and initrd. The disk is written
# here, inside mmdebstrap's user namespace, because only there do the files have
# their owners when the build is not run by root.
set -eu
root=$1

echo headroom-vm >"$root/etc/hostname"
printf '127.0.0.1 localhost headroom-vm\n::1 localhost\n' >"$root/etc/hosts"
echo '/dev/vda / ext4 rw,noatime 0 1' >"$root/etc/fstab"
# The guest tests refuse to run where this file is not.
echo "$SUITE" >"$root/etc/headroom-vm"

in_root() { chroot "$root" "$@"; }

in_root passwd -d root >/dev/null
in_root useradd -m -u 1000 -s /bin/bash pi
in_root useradd -m -u 1001 -s /bin/bash dora
in_root useradd -m -u 1002 -s /bin/bash sam
echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
chmod 0440 "$root/etc/sudoers.d/pi"

# Root reaches every user over ssh: that is a login as people have it, with PAM,
# logind and a session scope, which neither su nor a pty of our own gives.
mkdir -p "$root/root/.ssh"
chmod 0700 "$root/root/.ssh"
in_root ssh-keygen -q -t ed25519 -N '' -C vmtests -f /root/.ssh/id_ed25519
for home in /root /home/pi /home/dora /home/sam; do
	user=${home##*/}
	mkdir -p "$root$home/.ssh"
	cp "$root/root/.ssh/id_ed25519.pub" "$root$home/.ssh/authorized_keys"
	in_root chown -R "$user:$user" "$home/.ssh"
	chmod 0700 "$root$home/.ssh"
done
cat >"$root/root/.ssh/config" <<'CONFIG'
Host localhost
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	LogLevel ERROR
CONFIG
in_root systemctl -q enable ssh.service

# Whatever starts by a timer would be caught as a heavy command of its own or
# take the processor away in the middle of a measurement. The console's login
# prompt is unmasked again when somebody asks for a shell.
in_root systemctl -q mask apt-daily.timer apt-daily-upgrade.timer \
	dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
	systemd-tmpfiles-clean.timer serial-getty@ttyS0.service \
	systemd-timesyncd.service getty@tty1.service

mkdir -p "$root/usr/lib/headroom-vmtests" "$root/payload"
cat >"$root/usr/lib/headroom-vmtests/start" <<'START'
#!/bin/sh
# The payload says what is to be done: the image stays the same from run to run.
mount -o ro /dev/disk/by-label/headroom-run /payload && exec sh /payload/run
echo "vmtests: no payload disk" >/dev/virtio-ports/headroom.results
systemctl poweroff -ff
START
chmod 0755 "$root/usr/lib/headroom-vmtests/start"
cat >"$root/etc/systemd/system/headroom-vmtests.service" <<'UNIT'
[Unit]
Description=Guest tests of headroomd
After=multi-user.target ssh.service

[Service]
ExecStart=/usr/lib/headroom-vmtests/start
# The tests must outlive every hog that they start.
OOMScoreAdjust=-1000

[Install]
WantedBy=multi-user.target
UNIT
in_root systemctl -q enable headroom-vmtests.service

# The guard that other tests do not want; one starts it by hand.
in_root systemctl -q mask earlyoom.service

# A machine without systemd: busybox is pid 1, as on Alpine, and everything
# runs in the root of a cgroup v2 hierarchy. Booted by init=.
cat >"$root/usr/lib/headroom-vmtests/init" <<'INIT'
#!/bin/sh
exec busybox init
INIT
cat >"$root/etc/inittab" <<'INITTAB'
::sysinit:/usr/lib/headroom-vmtests/sysinit
::once:/usr/lib/headroom-vmtests/start
INITTAB
cat >"$root/usr/lib/headroom-vmtests/sysinit" <<'SYSINIT'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mountpoint -q /proc || mount -t proc proc /proc
mountpoint -q /sys || mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs devtmpfs /dev
mountpoint -q /run || mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /dev/pts /dev/shm /run/sshd /run/lock
mountpoint -q /dev/pts || mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mountpoint -q /dev/shm || mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
hostname headroom-vm
ip link set lo up
for udevd in /usr/lib/systemd/systemd-udevd /lib/systemd/systemd-udevd; do
	[ -x $udevd ] && $udevd --daemon && break
done
udevadm trigger --action=add
udevadm settle
/usr/sbin/sshd
SYSINIT
chmod 0755 "$root/usr/lib/headroom-vmtests/init" "$root/usr/lib/headroom-vmtests/sysinit"

cp "$root"/boot/vmlinuz-* "$OUT/vmlinuz"
cp "$root"/boot/initrd.img-* "$OUT/initrd"
rm -rf "$root"/boot/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin
# A bind mount that is not recursive leaves out /proc, /sys and /dev, which are
# mounted in the new system while hooks run.
mkdir "$OUT/bare"
mount --bind "$root" "$OUT/bare"
# Without the two lazy words the guest's kernel would fill in the inode tables
# in the background of the first minutes.
mke2fs -q -F -t ext4 -m 0 -E lazy_itable_init=0,lazy_journal_init=0 \
	-L headroom-root -d "$OUT/bare" "$OUT/root.ext4" 3G
umount "$OUT/bare"
rmdir "$OUT/bare"
