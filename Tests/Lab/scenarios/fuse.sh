# boot: min
# image: files
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# FUSE: the kernel may check the bits, never the ACLs that it only shows, and the daemon decides.
modprobe fuse
chmod 666 /dev/fuse
echo user_allow_other >>/etc/fuse.conf
mkdir -p /srv/low/Pictures /srv/low/own /mnt/bind /mnt/ntfs
chmod 750 /srv/low/Pictures
setfacl -m u:tester:rwx /srv/low/Pictures
chown tester:tester /srv/low/own
chmod 700 /srv/low/own

section "bindfs: ACLs are shown and not heeded"
check "mounted" bindfs /srv/low /mnt/bind
may_be_open=user
honest "ACL for tester" /mnt/bind/Pictures tester
may_be_open=''
honest "nobody's entry" /mnt/bind/Pictures other
may_be_open='self user'
honest "own folder" /mnt/bind/own tester
ask --user tester photos=/mnt/bind/Pictures
says "the ACL proves nothing" 'status("photos") == "notDetermined" and has("photos", "acl-not-honoured")'
ask --user other photos=/mnt/bind/Pictures
says "no change is offered that would not help" 'status("photos") == "denied" and not remedies("photos") and not report("photos").requestableBy'
permcheck request photos=/mnt/bind/Pictures --user other --yes >/dev/null 2>&1
refuse "and none is made" bash -c 'getfacl -cp /srv/low/Pictures | grep user:other'
at_random "bindfs" /srv/low/random /mnt/bind/random

section "ntfs-3g: no ACL is no ACL"
truncate -s 16M "$lab_tmp/ntfs"
mkfs.ntfs -q -F "$lab_tmp/ntfs" >/dev/null 2>&1
check "ntfs mounted" ntfs-3g -o uid=1000,gid=1000,umask=077 "$lab_tmp/ntfs" /mnt/ntfs
mkdir /mnt/ntfs/DCIM
may_be_open=''
honest "ntfs, other" /mnt/ntfs/DCIM other
ask other photos=/mnt/ntfs/DCIM
says "its bits refuse, and no mask" 'status("photos") == "denied" and not has("photos", "acl-mask")'
may_be_open='self user'
honest "ntfs, tester" /mnt/ntfs/DCIM tester

section "fuse-overlayfs"
mkdir -p "$lab_tmp/up" "$lab_tmp/work" /mnt/fov
chmod 711 "$lab_tmp" "$lab_tmp/up"
check "fuse-overlayfs mounted" fuse-overlayfs -o "lowerdir=/srv/low,upperdir=$lab_tmp/up,workdir=$lab_tmp/work,allow_other" /mnt/fov
may_be_open='self user'
honest "fuse-overlayfs, own folder" /mnt/fov/own tester other

section "a daemon that does not answer"
daemon=$(pgrep -x bindfs)
kill -STOP "$daemon"
start=${EPOCHREALTIME/./}
timeout 20 permcheck photos=/mnt/bind/own >"$lab_tmp/bound" 2>&1
took=$(((${EPOCHREALTIME/./} - start) / 1000))
check "within 2 s" [ $took -lt 2000 ]
check "and says so" grep "the server of /mnt/bind did not answer" "$lab_tmp/bound"
kill -CONT "$daemon"
umount /mnt/bind /mnt/ntfs /mnt/fov
