# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Layers above the permission bits. The bits let member (groups video and audio)
# in everywhere here; what refuses him is the layer.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c
member=(env HOME=/home/member USER=member setpriv --reuid=member --regid=member --init-groups)
no_layer='not any(has("camera", c) for c in ("device-cgroup", "landlock-or-lsm", "seccomp"))'

# tries COMMAND...: what really works when COMMAND confines it
tries() {
    try camera "$@" bash -c "captures $camera"
    try microphone "$@" bash -c "records $pcm"
}

# confined LAYER CODE COMMAND...: the same for each layer that refuses what the bits allow.
confined() {
    local layer=$1 code=$2
    shift 2
    refuse "$layer: open is refused" "$@" probe "$camera"
    tries "$@"
    ask_by "$@" permcheck camera mic
    agree "$layer: camera" camera
    agree "$layer: mic" microphone
    says "$layer: restricted, nothing to request, exit 1" \
        'all(r.status == "restricted" and not r.requestableBy for r in answer.reports) and exits(1)'
    says "$layer: the bits would grant it" 'resource("/dev/video0").decision.verdict == "granted"'
    says "$layer: camera's reason is $code" "has(\"camera\", \"$code\")"
    says "$layer: mic's reason is $code" "has(\"microphone\", \"$code\")"
    says "$layer: no other reason is proven" \
        "all(x.code == \"$code\" for r in answer.reports for x in reasons(r.accessor) if x.certainty == \"proven\")"
}

section "nothing above the bits"
tries "${member[@]}"
ask member camera mic
agree "none: camera" camera
agree "none: mic" microphone
says "none: authorized, and no layer is a reason" "status(\"camera\") == \"authorized\" and exits(0) and $no_layer"
ask other camera
says "none: no layer is a reason where the bits decide" "status(\"camera\") == \"denied\" and $no_layer"

section "layers of the kernel"
confined Landlock landlock-or-lsm "${member[@]}" confine landlock
printf 'profile lab-no-devices {\n file, capability, network, unix, signal, ptrace, dbus,\n deny /dev/video* rw,\n deny /dev/snd/* rw,\n}\n' |
    apparmor_parser -r
confined AppArmor landlock-or-lsm "${member[@]}" aa-exec -p lab-no-devices --
confined seccomp seccomp "${member[@]}" confine seccomp
confined seccomp-all seccomp "${member[@]}" confine seccomp-all
group=/sys/fs/cgroup/lab-no-devices
mkdir -p $group
confined "device cgroup" device-cgroup confine devices $group "${member[@]}"
confined "device cgroup, root" device-cgroup confine devices $group
rmdir $group

section "systemd: DevicePolicy, PrivateDevices"
service=(systemd-run -q --wait --pipe --collect -p User=member -p WorkingDirectory=/)
confined DevicePolicy device-cgroup "${service[@]}" -p DevicePolicy=closed
ask_by "${service[@]}" -p DevicePolicy=closed -p 'DeviceAllow=char-video4linux rw' permcheck camera mic
says "DeviceAllow: the camera alone" \
    'status("camera") == "authorized" and status("microphone") == "restricted" and has("microphone", "device-cgroup") and exits(1)'
without_ioctl=("${service[@]}" -p SystemCallFilter=~ioctl:EPERM)
check "no ioctl: open works" "${without_ioctl[@]}" probe "$camera"
tries "${without_ioctl[@]}"
ask_by "${without_ioctl[@]}" permcheck camera mic
agree "no ioctl: camera" camera
agree "no ioctl: mic" microphone
says "no ioctl: a filter, proven" \
    'all(r.status == "restricted" for r in answer.reports) and has("camera", "seccomp", "proven") and has("microphone", "seccomp", "proven") and exits(1)'
chown tester "$camera"
chmod 600 "$camera"
weak=(systemd-run -q --wait --pipe --collect -p CapabilityBoundingSet=~CAP_DAC_OVERRIDE)
try camera "${weak[@]}" bash -c "captures $camera"
ask_by "${weak[@]}" permcheck camera
agree "root without capability: camera" camera
says "root without capability: that is a reason, proven" 'has("camera", "root-without-capability", "proven") and exits(1)'
says "root without capability: nobody tells root to join a group" \
    'not any(re.search("usermod|newgrp|gpasswd", json.dumps(m)) for m in remedies("camera"))'
chown root "$camera"
chmod 660 "$camera"
# hidden SANDBOX COMMAND...: there is no node at all.
hidden() {
    local sandbox=$1
    shift
    refuse "$sandbox: there is no node" "$@" probe "$camera"
    ask_by "$@" permcheck camera mic
    says "$sandbox: unavailable, exit 3" 'all(r.status == "unavailable" for r in answer.reports) and exits(3)'
    says "$sandbox: the sandbox is the reason" 'has("camera", "sandbox") and has("microphone", "sandbox")'
}
hidden PrivateDevices "${service[@]}" -p PrivateDevices=yes
says "PrivateDevices: the line to change is named" \
    'any(m.line and "PrivateDevices=no" in m.line and m.kind == "service" for m in remedies("camera"))'

section "bubblewrap"
bubble=("${member[@]}" bwrap --ro-bind / / --proc /proc --dev /dev)
hidden bubblewrap "${bubble[@]}"
says "bubblewrap: by its name, and the flag that lets the node in" \
    '"bubblewrap" in evidence("camera", "sandbox") and any("--dev-bind" in m.command for m in remedies("camera"))'
bubble+=(--dev-bind "$camera" "$camera")
try camera "${bubble[@]}" bash -c "captures $camera"
ask_by "${bubble[@]}" permcheck camera
agree "bubblewrap: a node that was let in" camera

section "a user name space"
tries "${member[@]}" unshare -Ur
ask_by "${member[@]}" unshare -Ur permcheck camera mic
agree "user name space: member keeps his groups, camera" camera
agree "user name space: member keeps his groups, mic" microphone
try camera as other unshare -Ur bash -c "captures $camera"
ask_by as other unshare -Ur permcheck camera
agree "user name space: its root is not root" camera

section "a nodev mount"
mkdir -p /mnt/nodev
mount -t tmpfs -o nodev,mode=755 tmpfs /mnt/nodev
mknod -m 666 /mnt/nodev/video0 c 81 0
refuse "nodev: open is refused" as member probe /mnt/nodev/video0
try camera as member bash -c 'captures /mnt/nodev/video0'
for asked_as in member root "--user member"; do
    # shellcheck disable=SC2086
    ask $asked_as camera=/mnt/nodev/video0
    agree "nodev: camera, asked as $asked_as" camera
    says "nodev: restricted, nodev-mount, exit 1, asked as $asked_as" \
        'status("camera") == "restricted" and has("camera", "nodev-mount") and exits(1)'
done
mount -o remount,dev /mnt/nodev
try camera as member bash -c 'captures /mnt/nodev/video0'
ask member camera=/mnt/nodev/video0
agree "nodev: the same node when mounted dev" camera
umount /mnt/nodev
