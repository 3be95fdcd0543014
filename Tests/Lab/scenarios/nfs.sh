# boot: min
# image: files
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# NFS, versions 3 and 4.2: a server decides, whatever the bits say, and may squash ids.
modprobe -a nfsd nfs nfsv3 nfsv4
mkdir -p /srv/nfs /mnt/n3 /mnt/n4 /var/lib/nfs/rpc_pipefs
truncate -s 32M "$lab_tmp/nfs"
mke2fs -q -F "$lab_tmp/nfs"
mount -o loop,acl "$lab_tmp/nfs" /srv/nfs
folder() {                  # folder NAME OWNER MODE
    mkdir -p "/srv/nfs/$1"
    chown "$2:$2" "/srv/nfs/$1"
    chmod "$3" "/srv/nfs/$1"
}
folder own tester 700
folder acl root 750
setfacl -m u:tester:rwx /srv/nfs/acl
folder read other 755
folder random root 777
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs sunrpc /var/lib/nfs/rpc_pipefs
rpcbind -w
nfsdcld
serve() { echo "/srv/nfs 127.0.0.1(rw,fsid=0,no_subtree_check,insecure,$1)" >/etc/exports; exportfs -ra; }
serve root_squash
rpc.nfsd 4
rpc.mountd
# A mount of its own, not one that shares what an earlier one remembers while that goes.
mount4() { mount -t nfs4 -o vers=4.2,sec=sys,nosharecache 127.0.0.1:/ /mnt/n4; }
check "the mounts are there" bash -c 'mount -t nfs4 -o vers=4.2,sec=sys 127.0.0.1:/ /mnt/n4 &&
    mount -t nfs -o vers=3,nolock 127.0.0.1:/srv/nfs /mnt/n3'

# The client cannot know for another user.
may_be_open=user
for version in 3 4; do
    section "version $version, root_squash"
    at=/mnt/n$version
    honest "v$version, own folder" $at/own tester root other
    honest "v$version, ACL" $at/acl tester other
    honest "v$version, others may read" $at/read tester
    ask --user tester photos=$at/own
    says "v$version: --user says who decides" 'status("photos") == "notDetermined" and has("photos", "network-fs", "proven")'
done
at_random "NFS 4.2" /srv/nfs/random /mnt/n4/random
mkdir /srv/nfs/random3
at_random "NFS 3" /srv/nfs/random3 /mnt/n3/random3
tester=(as tester)
"${tester[@]}" sleep 1000 &
sleep 0.5
pid=$(pgrep -u tester sleep)
ask photos=/mnt/n4/own --pid "$pid"
says "--pid is no more sure" 'status("photos") == "notDetermined"'
kill "$pid"

section "version 4.2, all_squash"
umount /mnt/n4 /mnt/n3
serve all_squash,anonuid=1001,anongid=1001
mount4
folder member 1001 700
honest "squashed to member, tester's folder" /mnt/n4/own tester member
honest "squashed to member, member's folder" /mnt/n4/member tester member other
ask --user tester photos=/mnt/n4/own
says "its own bits do not decide, and nothing is called denied by them" 'status("photos") == "notDetermined"'

section "a server that is gone"
umount /mnt/n4
serve root_squash
mount4
# Two processes that are already there when the server goes.
mkfifo "$lab_tmp/go1" "$lab_tmp/go2"
waiting() {                 # waiting N COMMAND...
    local go=$lab_tmp/go$1 out=$lab_tmp/there$1
    shift
    (cd /mnt/n4/read && read -r _ <"$go" && exec timeout 20 "$@" >"$out" 2>&1) &
    waiters+=($!)
}
waiters=(none)
waiting 1 permcheck camera photos=/home/tester/Pictures
waiting 2 permcheck explain ./own --color never
there() { echo >"$lab_tmp/go$1" && wait "${waiters[$1]}"; cat "$lab_tmp/there$1"; }
rpc.nfsd 0
mkdir -p /home/tester/Pictures
in_time() {                 # in_time NAME COMMAND...: ends within 2 s
    local name=$1 start=${EPOCHREALTIME/./} took
    shift
    "$@" >"$lab_tmp/bound" 2>&1 </dev/null
    took=$(((${EPOCHREALTIME/./} - start) / 1000))
    check "$name within 2 s" [ $took -lt 2000 ]
    sed 's/^/          /' "$lab_tmp/bound"
}
bound() {                   # bound NAME COMMAND...: the same, and names the mount
    in_time "$@"
    check "$1: the mount is named" grep '/mnt/n4' "$lab_tmp/bound"
}
bound "photos" timeout 20 permcheck photos=/mnt/n4/own
check "it says that nobody answers" grep "did not answer" "$lab_tmp/bound"
bound "camera mic photos" timeout 20 permcheck camera mic photos=/mnt/n4/own
bound "explain" timeout 20 permcheck explain /mnt/n4/own
bound "--user" timeout 20 permcheck photos=/mnt/n4/own --user tester
# A home on that server: settings, log and journal lie there.
mkdir -p /mnt/home
ln -s /mnt/n4/own /mnt/home/gone
home=(env HOME=/mnt/home/gone XDG_STATE_HOME=/mnt/home/gone/state XDG_CONFIG_HOME=/mnt/home/gone/config
    setpriv --reuid=tester --regid=tester --init-groups)
bound "a home there" "${home[@]}" timeout 20 permcheck camera mic photos
in_time "a log there" timeout 20 permcheck photos=/home/tester/Pictures --log /mnt/n4/own/log
bound "request" "${home[@]}" timeout 20 permcheck request photos --dry-run
in_time "a journal there" "${home[@]}" timeout 20 permcheck list --grants
check "a journal there: it says so" grep ETIMEDOUT "$lab_tmp/bound"
in_time "a working directory there" there 1
bound "a relative path there" there 2
rpc.nfsd 4
sleep 1
ask tester photos=/mnt/n4/own
says "the server is back: the answer too" 'status("photos") == "authorized"'
