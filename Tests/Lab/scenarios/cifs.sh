# boot: min
# image: files
# devices: none
# gate: no
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# CIFS: the client checks its own bits, and the server decides when a folder is listed or a file made.
modprobe -a cifs
mkdir -p /srv/smb /mnt/c /etc/samba /run/samba
truncate -s 32M "$lab_tmp/smb"
mke2fs -q -F "$lab_tmp/smb"
mount -o loop,acl,user_xattr "$lab_tmp/smb" /srv/smb
mkdir -p /srv/smb/{own,other,random}
chown tester:tester /srv/smb /srv/smb/own
chown other:other /srv/smb/other
chmod 700 /srv/smb/own /srv/smb/other
cat >/etc/samba/smb.conf <<'A'
[global]
 netbios name = LAB
 server role = standalone server
 map to guest = never
 smb ports = 445
 disable spoolss = yes
 load printers = no
 bind interfaces only = yes
 interfaces = lo
[pics]
 path = /srv/smb
 writeable = yes
[fixed]
 path = /srv/smb
 read only = yes
A
printf 'secret\nsecret\n' | smbpasswd -s -a tester >/dev/null 2>&1
smbd -D
for _ in {1..100}; do (: </dev/tcp/127.0.0.1/445) 2>/dev/null && break; sleep 0.2; done
share() {                   # share NAME OPTIONS
    umount /mnt/c 2>/dev/null
    mount -t cifs "//127.0.0.1/$1" /mnt/c -o "username=tester,password=secret,vers=3.1.1,uid=tester,forceuid,$2"
}
bits=gid=tester,forcegid,file_mode=0600,dir_mode=0700

section "the client's bits are tester's"
check "mounted" share pics "$bits"
# Only the server knows what tester may create.
may_be_open='self user'
honest "own folder" /mnt/c/own tester
honest "other's folder on the server" /mnt/c/other tester
ask tester photos=/mnt/c/other
says "the server's refusal is called one" 'status("photos") == "restricted" and has("photos", "server-decides", "proven")'
may_be_open=''
honest "the client refuses other" /mnt/c/own other
ask other photos=/mnt/c/own
says "the client's refusal is called one" 'status("photos") == "denied" and has("photos", "parent-search", "proven") and not report("photos").requestableBy'
ask --user other photos=/mnt/c/own
says "the same for --user" 'status("photos") == "denied" and exits(1)'
ask tester photos=/mnt/c/own
says "nothing is said before it was tried" 'status("photos") == "notDetermined" and "by writing" in evidence("photos", "server-decides")'
at_random "CIFS" /srv/smb/random /mnt/c/random no-acl

section "a folder that the server lists and does not search"
mkdir -p /srv/smb/listed
echo x >/srv/smb/listed/file
chown -R tester:tester /srv/smb/listed
chmod 444 /srv/smb/listed
may_be_open=''
# The server shows no name of it, and Linux ends such a listing with ENOENT.
try listed as tester attempt r /mnt/c/listed/
ask tester explain --need r /mnt/c/listed
finish_tries
says "it can be listed" 'answer["reports"][0]["status"] == "authorized"' "$(head -1 "$lab_tmp/try.listed")"

section "noperm: the bits mean nothing"
share pics "$bits,noperm"
may_be_open='self user'
honest "noperm, own folder" /mnt/c/own tester other
honest "noperm, other's folder" /mnt/c/other tester

section "a share that the server has read-only"
share fixed "$bits"
may_be_open='self user'
honest "read-only share" /mnt/c/own tester
umount /mnt/c
kill "$(cat /run/samba/smbd.pid)"
