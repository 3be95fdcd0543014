# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Another process (--pid): what confines it cannot be read from outside, and then nothing is sure.
member=(env HOME=/home/member USER=member setpriv --reuid=member --regid=member --init-groups)

# From here on this shell and what it starts belong to a login session, and no longer to the lab's own service.
busctl -q call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager \
    StartTransientUnit 'ssa(sv)a(sa(sv))' session-lab.scope fail 2 PIDs au 1 $$ Slice s user-1001.slice 0
for _ in {1..100}; do
    grep -q session-lab.scope /proc/$$/cgroup && break
    sleep 0.1
done

# asleep COMMAND...: runs `sleep` below COMMAND and keeps its pid.
asleep() {
    "$@" sleep 1234 &
    asleep=$!
    pid=''
    for _ in {1..100}; do
        sleep 0.1
        pid=$(pgrep -n -f '^sleep 1234')
        [ -z "$pid" ] || break
    done
}
awake() { kill "$pid"; wait "$asleep" 2>/dev/null; }

# unsure LAYER CODE COMMAND...: the layer refuses, and --pid does not say otherwise.
unsure() {
    local layer=$1 code=$2
    shift 2
    refuse "$layer: open is refused" "$@" probe /dev/video0
    asleep "$@"
    ask camera --pid "$pid"
    says "$layer: not determined, for $code" "status(\"camera\") == \"notDetermined\" and has(\"camera\", \"$code\") and exits(2)"
    ask explain /dev/video0 --pid "$pid"
    says "$layer: explain" "has(\"path\", \"$code\") and exits(2)"
    awake
}

section "nothing confines it"
check "open works" "${member[@]}" probe /dev/video0
asleep "${member[@]}"
ask camera --pid "$pid"
says "a process of member" 'status("camera") == "authorized" and exits(0)'
awake
asleep as other
ask camera --pid "$pid"
says "the bits refuse a process of other" 'status("camera") == "denied" and exits(1)'
awake

section "layers of the kernel"
unsure Landlock landlock-unseen "${member[@]}" confine landlock
unsure "Landlock in a user namespace" landlock-unseen "${member[@]}" unshare -Ur confine landlock-root
# A service restricts itself as root, and then takes the ids of member: no_new_privs is not set.
daemon=(confine landlock-root setpriv --reuid=member --regid=member --init-groups)
refuse "a service with Landlock: open is refused" systemd-run -q --wait --pipe --collect "${daemon[@]}" probe /dev/video0
systemd-run -q -u lab-x --collect "${daemon[@]}" sleep 1234
sleep 1
pid=$(systemctl show -P MainPID lab-x)
check "no_new_privs is not set" grep -q '^NoNewPrivs:[[:space:]]*0' "/proc/$pid/status"
for more in '' '--probe enter'; do
    # shellcheck disable=SC2086
    ask camera --pid "$pid" $more
    says "a service with Landlock $more: not determined" 'status("camera") == "notDetermined" and has("camera", "landlock-unseen") and exits(2)'
done
ask explain /dev/video0 --pid "$pid"
says "a service with Landlock: explain" 'has("path", "landlock-unseen") and exits(2)'
systemctl stop lab-x
# Only the kernel's memory shows it.
asleep confine landlock-root
ask camera --pid "$pid"
says "root's own daemon with Landlock" 'has("camera", "landlock-unseen") and "credentials" in evidence("camera", "landlock-unseen") and exits(2)'
awake
asleep "${member[@]}" setpriv --no-new-privs
ask camera --pid "$pid"
says "no_new_privs without Landlock" 'status("camera") == "authorized" and exits(0)'
kptr=$(cat /proc/sys/kernel/kptr_restrict)
echo 2 >/proc/sys/kernel/kptr_restrict
ask camera --pid "$pid"
says "where the kernel does not say where it is" 'status("camera") == "notDetermined" and has("camera", "landlock-unseen") and exits(2)'
echo "$kptr" >/proc/sys/kernel/kptr_restrict
awake
asleep "${member[@]}" unshare -Ur
ask camera --pid "$pid"
says "a user namespace without Landlock" 'status("camera") == "authorized" and exits(0)'
awake
unsure seccomp seccomp "${member[@]}" confine seccomp
printf 'profile lab-no-devices {\n file, capability, network, unix, signal, ptrace, dbus,\n deny /dev/video* rw,\n deny /dev/snd/* rw,\n}\n' |
    apparmor_parser -r
unsure AppArmor landlock-or-lsm "${member[@]}" aa-exec -p lab-no-devices --
# A name is no promise, and in complain mode deny rules hold.
printf 'profile unconfined_cam {\n file, capability, network, unix, signal, ptrace, dbus,\n deny /dev/video* rw,\n}\n' |
    apparmor_parser -r
unsure "AppArmor, a name" landlock-or-lsm "${member[@]}" aa-exec -p unconfined_cam --
printf 'profile lab-complains flags=(complain) {\n deny /dev/video* rw,\n deny /home/member/secret.txt r,\n}\n' |
    apparmor_parser -r
unsure "AppArmor, complaining" landlock-or-lsm "${member[@]}" aa-exec -p lab-complains --
install -m 644 -o member /dev/null /home/member/secret.txt
asleep "${member[@]}" aa-exec -p lab-complains --
ask explain /home/member/secret.txt --pid "$pid"
says "a file that a complaining profile denies" 'not exits(0) and has("path", "landlock-or-lsm")'
awake
group=/sys/fs/cgroup/lab-no-devices
mkdir -p $group
unsure "device cgroup" device-cgroup confine devices $group "${member[@]}"
rmdir $group

section "services"
for setting in DevicePolicy=closed PrivateDevices=yes; do
    systemd-run -q -u lab-x --collect -p User=member -p $setting sleep 1234
    sleep 1
    pid=$(systemctl show -P MainPID lab-x)
    ask camera=/dev/video0 --pid "$pid"
    says "$setting: not authorized" 'status("camera") in ("notDetermined", "unavailable", "restricted") and not exits(0)'
    says "$setting: it says why" 'has("camera", "device-cgroup") or has("camera", "sandbox")'
    systemctl stop lab-x
done

section "a service that runs since before its user joined a group"
printf '[Service]\nUser=other\nExecStart=/bin/sleep 1234\n' >/run/systemd/system/lab-team.service
groupadd lab-team
install -m 640 -g lab-team /dev/null /srv/team-file
systemctl daemon-reload
systemctl start lab-team
usermod -aG lab-team other
before=$(systemctl show -P MainPID lab-team)
permcheck explain /srv/team-file --pid "$before" >"$lab_tmp/page"
fix=$(sed -n 's/^ *\(systemctl restart\)/\1/p' "$lab_tmp/page")
check "the one fix restarts the unit" [ "$fix" = "systemctl restart lab-team.service" ]
check "it runs as printed" dash -c "$fix"
after=$(systemctl show -P MainPID lab-team)
check "the new process has the group" grep -q "^Groups:.*[[:space:]]$(stat -c %g /srv/team-file)\b" "/proc/$after/status"
ask explain /srv/team-file --pid "$after"
says "and access" 'status("path") == "authorized" and exits(0)'
systemctl stop lab-team
gpasswd -d other lab-team
groupdel lab-team
rm /srv/team-file /run/systemd/system/lab-team.service
systemctl daemon-reload

section "in the place of the process"
confine_devices() { confine devices $group "${member[@]}" "$@"; }
mkdir -p $group
asleep confine_devices
ask camera --pid "$pid" --probe enter
says "its device cgroup refuses, proven" 'status("camera") == "restricted" and has("camera", "device-cgroup", "proven") and exits(1)'
check "and nobody stays there" [ "$(wc -l <$group/cgroup.procs)" = 1 ]
awake
asleep "${member[@]}"
ask camera --pid "$pid" --probe enter
says "its ids grant" 'status("camera") == "authorized" and exits(0)'
awake
asleep as other
ask camera --pid "$pid" --probe enter
says "its ids refuse" 'status("camera") == "denied" and exits(1)'
awake
asleep "${member[@]}" confine landlock
ask camera --pid "$pid" --probe enter
says "Landlock is not taken on, and this is said" 'status("camera") == "notDetermined" and has("camera", "landlock-unseen")'
awake
mkdir -p $group-cold
asleep "${member[@]}"
echo "$pid" >$group-cold/cgroup.procs
echo 1 >$group-cold/cgroup.freeze
ask camera --pid "$pid" --probe enter
says "a frozen cgroup: not determined" 'status("camera") == "notDetermined" and "frozen" in evidence("camera", "unreadable-facts")'
check "and nothing was left in it" [ "$(wc -l <$group-cold/cgroup.procs)" = 1 ]
echo 0 >$group-cold/cgroup.freeze
awake
systemd-run -q -u lab-x --collect -p User=member -p PrivateDevices=yes sleep 1234
sleep 1
pid=$(systemctl show -P MainPID lab-x)
ask camera=/dev/video0 --pid "$pid" --probe enter
says "a private /dev" 'status("camera") == "unavailable" and not exits(0)'
systemctl stop lab-x
rmdir $group $group-cold

section "AppArmor at random"
printf 'profile lab-random {\n file, capability, network, unix, signal, ptrace, dbus,\n deny /srv/aa-random/d[012]/** rw,\n deny /srv/aa-random/d3/ r,\n deny /srv/aa-random/d[345]/** w,\n}\n' |
    apparmor_parser -r
INSIDE="aa-exec -p lab-random --" NO_OTHERS=1 at_random "AppArmor" /srv/aa-random /srv/aa-random
