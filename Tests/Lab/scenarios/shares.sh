# boot: min
# image: files
# shares: yes
# devices: none
# gate: no
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# 9p and virtiofs: the client's bits refuse, and a server has the last word.
modprobe virtiofs
p9() { mkdir -p "/mnt/$1" && mount -t 9p -o "trans=virtio,version=9p2000.L,$2" "$1" "/mnt/$1"; }
folders() {                 # folders PLACE
    mkdir -p "$1"/{own,other,acl}
    chown tester:tester "$1/own"
    chown other:other "$1/other"
    chmod 700 "$1/own" "$1/other"
    chmod 770 "$1/acl"
    setfacl -m u:tester:rwx "$1/acl" 2>/dev/null
}

section "9p: passthrough, no ACLs"
check "9p mounted" p9 pass cache=none
folders /mnt/pass
may_be_open='self user'
honest "9p, own folder" /mnt/pass/own tester
may_be_open=''
honest "9p, other's folder" /mnt/pass/other tester
honest "9p, other" /mnt/pass/own other
ask other photos=/mnt/pass/own
says "9p: the client's bits refuse, not the server" 'status("photos") == "denied" and has("photos", "other-bits", "proven")'
at_random "9p" /mnt/pass/random /mnt/pass/random no-acl
umount /mnt/pass

section "9p: posixacl"
check "9p with ACLs mounted" p9 pass access=client,posixacl,cache=none
folders /mnt/pass
may_be_open='self user'
honest "9p, ACL" /mnt/pass/acl tester
may_be_open=''
honest "9p, no entry" /mnt/pass/acl other
at_random "9p with ACLs" /mnt/pass/more /mnt/pass/more
umount /mnt/pass

section "9p: mapped-xattr, a device"
check "9p mapped mounted" p9 mapped cache=none
folders /mnt/mapped
may_be_open='self user'
honest "9p mapped, own folder" /mnt/mapped/own tester
may_be_open=''
honest "9p mapped, other" /mnt/mapped/own other

section "9p: read-only on the server, writable for the client"
check "9p read-only mounted" p9 readonly cache=none
may_be_open='self user'
honest "9p read-only" /mnt/readonly/Pictures tester
ask tester photos=/mnt/readonly/Pictures --probe write
says "9p read-only: a try shows it" 'status("photos") == "limited" and "EROFS" in errnos("photos")'

for tag in virtio virtioacl; do
    section "virtiofs: $tag"
    mkdir -p /mnt/$tag
    check "$tag mounted" mount -t virtiofs $tag /mnt/$tag
    folders /mnt/$tag
    may_be_open='self user'
    honest "$tag, own folder" /mnt/$tag/own tester
    may_be_open='self user'
    honest "$tag, ACL" /mnt/$tag/acl tester
    may_be_open=''
    honest "$tag, other" /mnt/$tag/own other
    ask --user tester photos=/mnt/$tag/acl
    says "$tag: an ACL proves nothing" 'status("photos") == "notDetermined" and not remedies("photos")'
    at_random "$tag" /mnt/$tag/random /mnt/$tag/random
done
