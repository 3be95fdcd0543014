# boot: full
# image: boxes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# What is said where no change of permissions helps: another seat, hidepid, groups that a sandbox drops, another place.
camera=/dev/video0
member=(env HOME=/home/member USER=member setpriv --reuid=member --regid=member --init-groups)

# asleep COMMAND...: runs `sleep` below COMMAND and keeps its pid.
asleep() {
    "$@" timeout 60 sleep 1234 </dev/null &
    asleep=$!
    pid=''
    for _ in {1..100}; do
        sleep 0.1
        pid=$(pgrep -n -f '^sleep 1234')
        [ -z "$pid" ] || break
    done
}
awake() { kill "$pid" "$asleep" 2>/dev/null; wait "$asleep" 2>/dev/null; }

section "a camera of another seat"
lab-seat true
check "tester at seat0 has the camera" lab-seat probe $camera
# As loginctl attach does.
mkdir -p /run/udev/rules.d
echo 'SUBSYSTEM=="video4linux", ENV{ID_SEAT}="seat1"' >/run/udev/rules.d/72-lab-seat.rules
udevadm control --reload
udevadm trigger --action=change $camera
settle
for _ in {1..50}; do
    getfacl -cp $camera | grep -q '^user:tester' || break
    sleep 0.1
done
refuse "it is seat1's now" lab-seat probe $camera
ask_by lab-seat permcheck camera
says "the seat is named" 'status("camera") == "denied" and "seat1" in evidence("camera", "no-seat-acl") and "seat0" in evidence("camera", "no-seat-acl")'
says "and no trigger is advised" '"trigger" not in evidence("camera", "no-seat-acl")'
rm /run/udev/rules.d/72-lab-seat.rules
udevadm control --reload
udevadm trigger --action=change $camera
settle

section "hidepid"
mount -o remount,hidepid=2 /proc
as other permcheck camera --pid 1 >"$lab_tmp/said" 2>&1
check "a hidden process is there" grep -q 'process 1 may not be seen (hidepid of /proc)' "$lab_tmp/said"
as other permcheck camera --pid 999999 >"$lab_tmp/said" 2>&1
check "and one that is not there is not" grep -q 'there is no process 999999' "$lab_tmp/said"
mount -o remount,hidepid=0 /proc

section "groups that firejail drops"
box=("${member[@]}" firejail --quiet --noprofile)
refuse "--nogroups: the camera is refused" "${box[@]}" --nogroups probe $camera
ask_by "${box[@]}" --nogroups permcheck camera
says "--nogroups: firejail and the option are named" 'has("camera", "stale-groups") and "nogroups" in evidence("camera", "stale-groups") and "log out" not in evidence("camera", "stale-groups")'
check "without it, the camera opens" "${box[@]}" probe $camera

section "a node of another mount namespace"
asleep unshare -m sh -c 'mount -t tmpfs none /mnt && mknod -m 666 /mnt/video0 c 81 0 && exec "$@"' sh
ask camera=/mnt/video0 --pid "$pid"
says "not determined, and where to ask is said" 'status("camera") == "notDetermined" and exits(2)'
check "the advice is --probe enter" bash -c "permcheck camera=/mnt/video0 --pid $pid | grep -q -- '--probe enter'"
ask camera=/mnt/video0 --pid "$pid" --probe enter
says "which answers" 'status("camera") == "authorized"'
awake

section "a user namespace without ids"
asleep "${member[@]}" unshare -U
check "entering it fails, and what to do is said" bash -c "permcheck camera --pid $pid --probe enter | grep -q 'ask without --probe enter'"
awake
