# boot: min
# image: files
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# File systems that are locked, that can never be written, or that store no owners.
disk() { truncate -s "$2" "$lab_tmp/$1" && mkdir -p "/mnt/$1"; }

section "fscrypt"
disk crypt 32M
mke2fs -q -F -t ext4 -O encrypt -b 4096 "$lab_tmp/crypt"
mount -o loop "$lab_tmp/crypt" /mnt/crypt
fscrypt setup --quiet --all-users >/dev/null
fscrypt setup /mnt/crypt --quiet --all-users >/dev/null
mkdir /mnt/crypt/Pictures
head -c 32 /dev/urandom >"$lab_tmp/key"
fscrypt encrypt /mnt/crypt/Pictures --source=raw_key --key="$lab_tmp/key" --name=k --quiet
echo x >/mnt/crypt/Pictures/a.jpg
chown -R tester: /mnt/crypt/Pictures
honest "unlocked" /mnt/crypt/Pictures tester other
fscrypt lock /mnt/crypt/Pictures --all-users >/dev/null
for who in tester "tester --probe write" "--user tester" "tester --probe access"; do
    # shellcheck disable=SC2086
    ask $who photos=/mnt/crypt/Pictures
    says "locked: $who" 'status("photos") == "restricted" and has("photos", "locked", "proven") and exits(1)'
done
file=$(find /mnt/crypt/Pictures -type f)
ask tester explain "$file"
says "locked: a file in it" 'answer.reports[0].status == "restricted" and has("path", "locked", "proven")'
ask explain "$file" --user tester
says "locked: a file in it, --user" 'answer.reports[0].status == "restricted" and has("path", "locked", "proven")'
fscrypt unlock /mnt/crypt/Pictures --key="$lab_tmp/key" >/dev/null
honest "unlocked again" /mnt/crypt/Pictures tester

section "quota"
modprobe quota_v2
disk quota 32M
mke2fs -q -F -t ext4 -O quota -E quotatype=usrquota "$lab_tmp/quota"
mount -o loop,usrquota "$lab_tmp/quota" /mnt/quota
chmod 777 /mnt/quota
# Q_SETQUOTA by quotactl_fd(2): two files for tester, QIF_ILIMITS.
python3 -c "
import ctypes, os, struct
limits = ctypes.create_string_buffer(struct.pack('8QI4x', 0, 0, 0, 2, 0, 0, 0, 0, 4), 72)
folder = os.open('/mnt/quota', os.O_RDONLY)
assert ctypes.CDLL(None).syscall(443, folder, 0x800008 << 8, $(id -u tester), limits) == 0"
ask tester explain /mnt/quota/new --to create
says "quota: below the limit" 'answer.reports[0].status == "authorized" and exits(0)'
as tester touch /mnt/quota/1 /mnt/quota/2
ask tester explain /mnt/quota/new --to mkdir
says "quota: at the limit" 'answer.reports[0].status == "restricted" and has("path", "no-space", "proven")'
ask explain /mnt/quota/new --to create --user tester
says "quota: at the limit, --user" 'answer.reports[0].status == "restricted" and has("path", "no-space", "proven")'
ask explain /mnt/quota/new --to create --user other
says "quota: another user" 'answer.reports[0].status == "authorized" and exits(0)'

section "never to be written: squashfs, ISO 9660, overlay without an upper layer"
modprobe -a squashfs isofs exfat overlay loop
mkdir -p /srv/disks/low/Pictures /srv/disks/low2 /mnt/{squash,iso,lower}
chown other:other /srv/disks/low/Pictures
chmod 770 /srv/disks/low/Pictures
mksquashfs /srv/disks/low "$lab_tmp/squash" -quiet -no-progress >/dev/null
genisoimage -quiet -R -o "$lab_tmp/iso" /srv/disks/low 2>/dev/null
mount -o loop "$lab_tmp/squash" /mnt/squash
mount -o loop,ro "$lab_tmp/iso" /mnt/iso
mount -t overlay -o lowerdir=/srv/disks/low:/srv/disks/low2 overlay /mnt/lower
for name in squash iso lower; do
    honest "$name" /mnt/$name/Pictures tester other
    mount -o remount,rw /mnt/$name 2>/dev/null
    refuse "$name: a remount does not help" touch /mnt/$name/Pictures/new
    ask --user other photos=/mnt/$name/Pictures
    says "$name: none is offered" 'not any(m.command and m.command[0] == "mount" for m in remedies("photos"))'
    ask --user tester photos=/mnt/$name/Pictures
    says "$name: nothing to request" 'not report("photos").requestableBy and not remedies("photos")'
done
mkdir -p /mnt/squash-random /mnt/iso-random
PACK="mksquashfs /srv/squash-random $lab_tmp/more.squash -quiet -no-progress >/dev/null && mount -o loop $lab_tmp/more.squash /mnt/squash-random" \
    at_random "squashfs" /srv/squash-random /mnt/squash-random
PACK="genisoimage -quiet -R -o $lab_tmp/more.iso /srv/iso-random && mount -o loop,ro $lab_tmp/more.iso /mnt/iso-random" \
    at_random "ISO 9660" /srv/iso-random /mnt/iso-random
mkdir -p "$lab_tmp/upper" "$lab_tmp/work" /mnt/over
mount -t overlay -o "lowerdir=/srv/disks/low,upperdir=$lab_tmp/upper,workdir=$lab_tmp/work" overlay /mnt/over
at_random "overlay" /mnt/over/random /mnt/over/random

section "exFAT: the mount says who owns everything"
disk exfat 16M
mkfs.exfat "$lab_tmp/exfat" >/dev/null
mount -o loop,uid=tester,gid=tester,umask=077 "$lab_tmp/exfat" /mnt/exfat
mkdir /mnt/exfat/DCIM
honest "exFAT" /mnt/exfat/DCIM tester other root
ask --user other photos=/mnt/exfat/DCIM
says "exFAT: not to be requested" 'status("photos") == "denied" and not report("photos").requestableBy'
permcheck request photos=/mnt/exfat/DCIM --user other --yes --allow-others >"$lab_tmp/out" 2>&1
code=$?
check "exFAT: a request says that nothing can be changed" [ $code = 1 ]
sed 's/^/          /' "$lab_tmp/out"
at_random "exFAT" /mnt/exfat/random /mnt/exfat/random no-acl
umount /mnt/exfat
mount -o loop,uid=tester,gid=1002,umask=007 "$lab_tmp/exfat" /mnt/exfat
honest "exFAT, mounted as the remedy says" /mnt/exfat/DCIM other

section "an owner whom a user namespace does not know"
mkdir -p /srv/theirs
chown other: /srv/theirs
inside=(as tester unshare --user --map-root-user)
refuse "nobody inside may set an ACL" "${inside[@]}" setfacl -m u:0:rwx /srv/theirs
ask_by "${inside[@]}" permcheck photos=/srv/theirs
says "none is offered" 'status("photos") == "limited" and not report("photos").requestableBy and not remedies("photos")'

section "eCryptfs"
mkdir -p /srv/secret /mnt/secret
modprobe ecryptfs
check "eCryptfs mounted" mount -t ecryptfs -o key=passphrase:passphrase_passwd=x,ecryptfs_cipher=aes,ecryptfs_key_bytes=16,ecryptfs_passthrough=n,ecryptfs_enable_filename_crypto=n,no_sig_cache /srv/secret /mnt/secret
mkdir /mnt/secret/random
at_random "eCryptfs" /mnt/secret/random /mnt/secret/random

section "files to come"
mkdir /mnt/future
mount -t tmpfs -o mode=755 none /mnt/future
files_to_come() {
    unshare --mount python3 future.py /mnt/future "$(command -v permcheck)" 1 "$1" 40 >"$lab_tmp/future"
    local status=$?
    cat "$lab_tmp/future"
    [ $status = 0 ] && grep -q 'on .*vfat.*exfat' "$lab_tmp/future"
}
check "files to come: 800 folders, none wrong, on vfat and exFAT too" files_to_come 800
