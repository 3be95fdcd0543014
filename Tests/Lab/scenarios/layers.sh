# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Layers above the permission bits. The bits let member (groups video and audio)
# in everywhere here; what refuses him is the layer.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c
member=(setpriv --reuid=member --regid=member --init-groups env HOME=/home/member USER=member)
kill_switch='has_code("camera"; "device-cgroup") or has_code("camera"; "landlock-or-lsm") or has_code("camera"; "seccomp")'

# confined LAYER CODE COMMAND...: the same for each layer that refuses what the bits allow.
confined() {
    local layer=$1 code=$2
    shift 2
    ask_by "$@" permcheck camera mic
    agree "$layer: camera agrees with v4l2-ctl" camera "$@" bash -c "captures $camera"
    agree "$layer: mic agrees with arecord" microphone "$@" bash -c "records $pcm"
    says "$layer: restricted, exit 1" \
        'status("camera") == "restricted" and status("microphone") == "restricted" and ([.reports[].requestable] | any | not) and exits(1)'
    says "$layer: the bits would grant it" 'resource("/dev/video0").decision.verdict == "granted"'
    says "$layer: camera's reason is $code" "has_code(\"camera\"; \"$code\")"
    says "$layer: mic's reason is $code" "has_code(\"microphone\"; \"$code\")"
    says "$layer: and no other layer is proven" \
        "[.reports[].resources[].reasons[] | select(.certainty == \"proven\" and .code != \"$code\") | .code] == []"
}

section "nothing above the bits"
ask member camera mic
agree "none: camera agrees with v4l2-ctl" camera as member bash -c "captures $camera"
agree "none: mic agrees with arecord" microphone as member bash -c "records $pcm"
says "none: authorized, and no layer is a reason" "status(\"camera\") == \"authorized\" and exits(0) and ($kill_switch | not)"
ask tester camera
says "none: a layer is no reason where the bits decide" "$kill_switch | not"

section "Landlock"
refuse "Landlock: open is refused" "${member[@]}" confine landlock probe "$camera"
confined Landlock landlock-or-lsm "${member[@]}" confine landlock

section "AppArmor"
printf 'profile lab-no-devices {\n file, capability, network, unix, signal, ptrace, dbus,\n deny /dev/video* rw,\n deny /dev/snd/* rw,\n}\n' |
    apparmor_parser -r
refuse "AppArmor: open is refused" "${member[@]}" aa-exec -p lab-no-devices -- probe "$camera"
confined AppArmor landlock-or-lsm "${member[@]}" aa-exec -p lab-no-devices --

section "seccomp"
refuse "seccomp: open is refused" "${member[@]}" confine seccomp probe "$camera"
confined seccomp seccomp "${member[@]}" confine seccomp
refuse "seccomp-all: open is refused" "${member[@]}" confine seccomp-all probe "$camera"
confined seccomp-all seccomp "${member[@]}" confine seccomp-all

section "a device cgroup's BPF program"
group=/sys/fs/cgroup/lab-no-devices
mkdir -p $group
refuse "device cgroup: open is refused, to root as well" confine devices $group probe "$camera"
confined "device cgroup" device-cgroup confine devices $group "${member[@]}"
confined "device cgroup, root" device-cgroup confine devices $group
rmdir $group

section "systemd: DevicePolicy, PrivateDevices"
service=(systemd-run -q --wait --pipe --collect -p User=member)
refuse "DevicePolicy: open is refused" "${service[@]}" -p DevicePolicy=closed probe "$camera"
confined DevicePolicy device-cgroup "${service[@]}" -p DevicePolicy=closed
ask_by "${service[@]}" -p DevicePolicy=closed -p 'DeviceAllow=char-video4linux rw' permcheck camera mic
says "DeviceAllow: the camera alone" \
    'status("camera") == "authorized" and status("microphone") == "restricted" and has_code("microphone"; "device-cgroup") and exits(1)'
refuse "PrivateDevices: there is no node" "${service[@]}" -p PrivateDevices=yes probe "$camera"
ask_by "${service[@]}" -p PrivateDevices=yes permcheck camera mic
says "PrivateDevices: unavailable, exit 3" \
    'status("camera") == "unavailable" and status("microphone") == "unavailable" and exits(3)'
says "PrivateDevices: the sandbox is the reason" 'has_code("camera"; "sandbox") and has_code("microphone"; "sandbox")'

section "bubblewrap"
bubble=("${member[@]}" bwrap --ro-bind / / --proc /proc --dev /dev)
refuse "bubblewrap: there is no node" "${bubble[@]}" probe "$camera"
ask_by "${bubble[@]}" permcheck camera mic
says "bubblewrap: unavailable, exit 3" \
    'status("camera") == "unavailable" and status("microphone") == "unavailable" and exits(3)'
says "bubblewrap: the sandbox is the reason" 'has_code("camera"; "sandbox") and has_code("microphone"; "sandbox")'
ask_by "${bubble[@]}" --dev-bind "$camera" "$camera" permcheck camera
agree "bubblewrap: a node that was let in" camera "${bubble[@]}" --dev-bind "$camera" "$camera" bash -c "captures $camera"

section "a user name space"
ask_by "${member[@]}" unshare -Ur permcheck camera mic
agree "user name space: member keeps his groups, camera" camera "${member[@]}" unshare -Ur bash -c "captures $camera"
agree "user name space: member keeps his groups, mic" microphone "${member[@]}" unshare -Ur bash -c "records $pcm"
setfacl -b "$camera"
ask_by as tester unshare -Ur permcheck camera
agree "user name space: its root is not root" camera as tester unshare -Ur bash -c "captures $camera"

section "a nodev mount"
mkdir -p /mnt/nodev
mount -t tmpfs -o nodev,mode=755 tmpfs /mnt/nodev
mknod -m 666 /mnt/nodev/video0 c 81 0
refuse "nodev: open is refused" as member probe /mnt/nodev/video0
for asked in "member camera=/mnt/nodev/video0" "root camera=/mnt/nodev/video0" "root --user member camera=/mnt/nodev/video0"; do
    # shellcheck disable=SC2086
    ask $asked
    agree "nodev: camera agrees with v4l2-ctl ($asked)" camera as member bash -c 'captures /mnt/nodev/video0'
    says "nodev: restricted, nodev-mount, exit 1 ($asked)" \
        'status("camera") == "restricted" and has_code("camera"; "nodev-mount") and exits(1)'
done
mount -o remount,dev /mnt/nodev
ask member camera=/mnt/nodev/video0
agree "nodev: the same node, mounted dev" camera as member bash -c 'captures /mnt/nodev/video0'
umount /mnt/nodev
