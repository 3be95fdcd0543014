# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Who is let in by the seat's ACL, by a group, or not at all; and what takes it away.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c

# A shell at the seat or behind ssh does not inherit our functions.
truth="$(declare -f captures records);"
seat() { lab-seat "$@"; }
session=first
by_ssh() { local user=$1; shift; ssh -q -S "/run/lab-ssh-$session-$user" "$user@localhost" "$*"; }

# A frame and a second of sound, at the seat and behind ssh.
try_seat() { try camera lab-seat bash -c "$truth captures $camera"; try microphone lab-seat bash -c "$truth records $pcm"; }
try_ssh() { try camera by_ssh "$1" "$truth captures $camera"; try microphone by_ssh "$1" "$truth records $pcm"; }
agree_both() { agree "$1: camera" camera; agree "$1: mic" microphone; }

human='permcheck camera --format human --color never'
words() {                   # words PATTERN NOT-PATTERN COMMAND...: in what COMMAND prints
    local pattern=$1 not=$2 seen
    shift 2
    seen=$("$@")
    echo "$seen"
    grep -qiE -- "$pattern" <<<"$seen" && ! grep -qiE -- "$not" <<<"$seen"
}
entry() {                   # entry yes|no: waits until logind has given or taken tester's entry
    local is
    for _ in $(seq 100); do
        is=no
        ! getfacl -cp "$camera" "$pcm" | grep -q '^user:tester:rw-' || is=yes
        [ $is != "$1" ] || return 0
        sleep 0.1
    done
    return 1
}
switch_to() {               # a virtual terminal, by VT_ACTIVATE and VT_WAITACTIVE
    python3 -c "import fcntl; t = open('/dev/tty0', 'wb'); fcntl.ioctl(t, 0x5606, $1); fcntl.ioctl(t, 0x5607, $1)"
}

# One connection for each user and session: under emulation a handshake takes seconds.
printf 'ControlMaster auto\nControlPersist 900\nKexAlgorithms curve25519-sha256\n' >>/root/.ssh/config
mkdir -p /run/sshd
/usr/sbin/sshd
for user in tester member other; do by_ssh $user true & logins+=($!); done
lab-seat true

section "tester, logged in at the seat"
check "seat: logind gives tester an entry" entry yes
try_seat
ask_by seat permcheck camera mic
agree_both seat
says "seat: the entry for tester decides" 'resource("/dev/video0").decision.rule == "acl-user:1000" and exits(0)'
check "seat: permcheck says it is the seat ACL" words 'seat ACL' 'group' seat bash -c "$human"
try camera as tester bash -c "captures $camera"
ask --user tester camera
agree "seat, --user tester: camera" camera

section "others, through ssh"
wait "${logins[@]}"
try_ssh other
ask_by by_ssh other permcheck camera mic
agree_both "ssh, other"
says "ssh, other: denied, exit 1" 'status("camera") == "denied" and status("microphone") == "denied" and exits(1)'
says "ssh, other: it is a seat that is missing" 'has("camera", "no-seat-acl") and has("microphone", "no-seat-acl")'
try_ssh tester
ask_by by_ssh tester permcheck camera mic
agree_both "ssh, tester, whose entry is for the user"
try_ssh member
ask_by by_ssh member permcheck camera mic
agree_both "ssh, member"
says "ssh, member: the group decides" 'resource("/dev/video0").decision.rule.startswith(("acl-owning-group", "group-bits")) and exits(0)'
check "ssh, member: permcheck says it is the group video" words 'group.*video|video.*group' 'seat ACL' by_ssh member "$human"
try camera su - other -c "$truth captures $camera"
ask_by su -l -- other -c 'exec permcheck "$@"' - camera
agree "su, other: camera" camera

section "processes of the sessions, from outside"
processes=0 unknown=''
for pid in $(pgrep -u tester,member,other); do
    permcheck -q camera --pid "$pid"
    case $? in
        0 | 1) processes=$((processes + 1)) ;;
        2) processes=$((processes + 1)) unknown+=" $(ps -o comm= -p "$pid")" ;;
    esac
done
few() { echo "$processes processes, not determined:${unknown:- none}"; [ "$(wc -w <<<"$unknown")" -le $((processes / 20)) ]; }
check "are determined" few

section "an entry made by hand"
setfacl -m u:other:rw "$camera"
try camera by_ssh other "$truth captures $camera"
ask_by by_ssh other permcheck camera
agree "by hand: camera" camera
check "by hand: permcheck does not call it the seat's" words 'user:other' 'seat ACL' by_ssh other "$human"
udevadm trigger --action=change "$camera"
settle
try camera by_ssh other "$truth captures $camera"
ask_by by_ssh other permcheck camera
agree "by hand: camera after a udev event" camera

section "another virtual terminal"
switch_to 2
check "VT 2: logind takes tester's entry away" entry no
try_seat
ask_by seat permcheck camera mic
agree_both "VT 2"
says "VT 2: the seat's entry is what is missing" 'status("camera") == "denied" and has("camera", "no-seat-acl") and exits(1)'
try camera by_ssh member "$truth captures $camera"
ask_by by_ssh member permcheck camera
agree "VT 2, member: camera" camera

section "a group given while the session is open"
usermod -aG video,audio tester
try_seat
ask_by seat permcheck camera mic
agree_both "old session"
says "old session: stale-groups is the reason" 'has("camera", "stale-groups") and has("microphone", "stale-groups") and exits(1)'
says "old session: what to restart is named" 're.search("lab-seat|bash|login|session", evidence("camera", "stale-groups")) is not None'
try camera as tester bash -c "captures $camera"
ask --user tester camera
agree "old session, --user tester: camera" camera
session=second
try_ssh tester
ask_by by_ssh tester permcheck camera mic
agree_both "new session"
says "new session: nothing is stale" 'not has("camera", "stale-groups") and exits(0)'
gpasswd -d tester video
gpasswd -d tester audio
session=first
switch_to 1
check "VT 1 again: logind gives the entry again" entry yes
try_seat
ask_by seat permcheck camera mic
agree_both "VT 1 again"

section "a user manager that lingers"
# Masked to save time at boot.
rm /etc/systemd/system/user@1002.service
systemctl daemon-reload
loginctl enable-linger other
systemctl start user@1002.service
check "linger: other's user manager runs" timeout 60 bash -c 'until systemctl -q is-active user@1002; do sleep 0.2; done'
managed() { as other env XDG_RUNTIME_DIR=/run/user/1002 systemd-run --user -q --wait --pipe --collect "$@"; }
usermod -aG video other
try camera managed bash -c "$truth captures $camera"
ask_by managed permcheck camera
agree "linger: camera" camera
says "linger: the user manager has stale groups" 'has("camera", "stale-groups", "proven") and exits(1)'
says "linger: it is named, and that logging out does not end it" \
    're.search(r"systemd \(pid \d+\).*lingers.*systemctl restart user@1002.service", evidence("camera", "stale-groups")) is not None'
systemctl restart user@1002.service
try camera managed bash -c "$truth captures $camera"
ask_by managed permcheck camera
agree "linger: after the restart that was named, camera" camera
says "linger: after it nothing is stale" 'not has("camera", "stale-groups") and exits(0)'
gpasswd -d other video

ask_by managed permcheck explain camera
says "linger: and that the next login will not have them is said" \
    '"until the next login of other" in resource("/dev/video0").decision.meaning and exits(0)'
loginctl disable-linger other
systemctl stop user@1002.service

section "logout"
systemctl stop getty@tty1.service          # whose main process is the session's login
check "logout: logind takes tester's entry away" entry no
try_ssh tester
ask_by by_ssh tester permcheck camera mic
agree_both "logout, ssh"
says "logout, ssh: the seat's entry is what is missing" 'has("camera", "no-seat-acl") and exits(1)'
try camera as tester bash -c "captures $camera"
ask --user tester camera
agree "logout, --user tester: camera" camera
systemctl start getty@tty1.service
lab-seat true
check "login: logind gives the entry again" entry yes
try camera seat bash -c "$truth captures $camera"
ask_by seat permcheck camera
agree "login: camera" camera

section "a device that udev gives to nobody"
refuse "seat rule: tester may not read the clock" seat test -r /dev/rtc0
ask_by seat permcheck rtc
says "seat rule: denied, and a rule for the seat is named" \
    'exits(1) and any(m.kind == "file" and "uaccess" in m.command[2] for m in remedies("rtc"))'
seat permcheck rtc --json | python3 -c '
import json, shlex, sys
resource = json.load(sys.stdin)["reports"][0]["resources"][0]
print(next(shlex.join(m["command"]) for m in resource["remedies"] if m["kind"] == "file"))' >"$lab_tmp/fix"
check "seat rule: it works as printed" bash "$lab_tmp/fix"
settle
check "seat rule: tester may read the clock" seat test -r /dev/rtc0
ask_by seat permcheck rtc
says "seat rule: authorized, by the seat" '"seat" in resource("/dev/rtc0").decision.basis and exits(0)'
refuse "seat rule: other may not" as other test -r /dev/rtc0
# udev keeps the tag until the device goes.
rm /etc/udev/rules.d/70-seat-rtc0.rules
udevadm control --reload
setfacl -b /dev/rtc0
