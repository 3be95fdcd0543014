# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Who is let in by the seat's ACL, by a group, or not at all; and what takes it away.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c
truth="$(declare -f captures records);"     # for shells that do not get our functions

by_ssh() {                  # by_ssh USER COMMAND
    local user=$1
    shift
    ssh -q "$user@localhost" "$*"
}
at_seat() { lab-seat "$@"; }
tells() {                   # tells WORDS [NOT-WORDS]: of `permcheck camera`'s own words, on standard input
    local seen
    seen=$(cat)
    echo "$seen"
    grep -qiE -- "$1" <<<"$seen" && { [ $# = 1 ] || ! grep -qiE -- "$2" <<<"$seen"; }
}
human='permcheck camera --format human --color never'
switch_to() {               # a virtual terminal: VT_ACTIVATE, VT_WAITACTIVE
    python3 -c "import fcntl; t = open('/dev/tty0', 'wb'); fcntl.ioctl(t, 0x5606, $1); fcntl.ioctl(t, 0x5607, $1)"
    wait_for_entry "$2"
}
wait_for_entry() {          # waits until logind has given tester's entry (yes) or taken it (no)
    for _ in $(seq 100); do
        if getfacl -cp "$camera" "$pcm" | grep -q user:tester; then [ "$1" = no ] || return; else [ "$1" = yes ] || return; fi
        sleep 0.1
    done
    echo "logind did not: tester's entry should be there: $1"
}

lab-seat true
mkdir -p /run/sshd
/usr/sbin/sshd
for _ in $(seq 50); do by_ssh other true && break; sleep 0.2; done

section "tester, logged in at the seat"
check "seat: logind gave tester an entry" bash -c "getfacl -cp $camera | grep user:tester:rw-"
ask_by at_seat permcheck camera mic
agree "seat: camera" camera at_seat bash -c "$truth captures $camera"
agree "seat: mic" microphone at_seat bash -c "$truth records $pcm"
says "seat: the entry for tester decides" 'resource("/dev/video0").decision.rule == "acl-user:1000" and exits(0)'
check "seat: permcheck says it is the seat ACL" tells 'seat ACL' 'group' < <(at_seat bash -c "$human")
ask --user tester camera mic
agree "seat: camera, --user tester" camera as tester bash -c "captures $camera"
agree "seat: mic, --user tester" microphone as tester bash -c "records $pcm"

section "others, through ssh"
ask_by by_ssh other permcheck camera mic
agree "ssh: camera for other" camera by_ssh other "$truth captures $camera"
agree "ssh: mic for other" microphone by_ssh other "$truth records $pcm"
says "ssh: other is denied, exit 1" 'status("camera") == "denied" and status("microphone") == "denied" and exits(1)'
says "ssh: other has no seat" 'has_code("camera"; "no-seat-acl") and has_code("microphone"; "no-seat-acl")'
ask_by by_ssh tester permcheck camera mic
agree "ssh: camera for tester, whose entry is per user" camera by_ssh tester "$truth captures $camera"
agree "ssh: mic for tester" microphone by_ssh tester "$truth records $pcm"
ask_by by_ssh member permcheck camera mic
agree "ssh: camera for member" camera by_ssh member "$truth captures $camera"
agree "ssh: mic for member" microphone by_ssh member "$truth records $pcm"
says "ssh: the group decides for member" 'resource("/dev/video0").decision.rule | test("group")'
check "ssh: permcheck says it is the group video" tells 'group.*video|video.*group' 'seat ACL' < <(by_ssh member "$human")
ask_by su -l -- other -c 'exec permcheck "$@"' - camera
agree "su: camera for other" camera su - other -c "$truth captures $camera"

section "an entry made by hand"
setfacl -m u:other:rw "$camera"
ask_by by_ssh other permcheck camera
agree "by hand: camera for other" camera by_ssh other "$truth captures $camera"
check "by hand: permcheck does not call it the seat's" tells 'other' 'seat ACL' < <(by_ssh other "$human")
udevadm trigger --action=change "$camera"
settle
ask_by by_ssh other permcheck camera
agree "by hand: camera for other after a udev event" camera by_ssh other "$truth captures $camera"

section "another virtual terminal"
switch_to 2 no
ask_by at_seat permcheck camera mic
agree "VT 2: camera" camera at_seat bash -c "$truth captures $camera"
agree "VT 2: mic" microphone at_seat bash -c "$truth records $pcm"
says "VT 2: the seat's entry is what is missing" 'status("camera") == "denied" and has_code("camera"; "no-seat-acl") and exits(1)'
ask_by by_ssh member permcheck camera
agree "VT 2: camera for member" camera by_ssh member "$truth captures $camera"

section "a group given while the session is open"
usermod -aG video,audio tester
ask_by at_seat permcheck camera mic
agree "stale: camera in the old session" camera at_seat bash -c "$truth captures $camera"
agree "stale: mic in the old session" microphone at_seat bash -c "$truth records $pcm"
says "stale: stale-groups is the reason" 'has_code("camera"; "stale-groups") and has_code("microphone"; "stale-groups") and exits(1)'
says "stale: the session's leader or shell is named" 'evidence("camera"; "stale-groups") | test("lab-seat|bash|login|session")'
ask --user tester camera mic
agree "stale: camera for a new session, --user tester" camera as tester bash -c "captures $camera"
ask_by by_ssh tester permcheck camera
agree "stale: camera in a new session" camera by_ssh tester "$truth captures $camera"
says "stale: nothing is stale in a new session" 'has_code("camera"; "stale-groups") | not'
gpasswd -d tester video >/dev/null
gpasswd -d tester audio >/dev/null
switch_to 1 yes
ask_by at_seat permcheck camera mic
agree "VT 1 again: camera" camera at_seat bash -c "$truth captures $camera"
agree "VT 1 again: mic" microphone at_seat bash -c "$truth records $pcm"

section "logout"
systemctl mask -q --runtime getty@tty1.service
loginctl terminate-session "$(loginctl show-seat seat0 -p ActiveSession --value)"
wait_for_entry no
ask_by by_ssh tester permcheck camera mic
agree "logout: camera for tester, by ssh" camera by_ssh tester "$truth captures $camera"
agree "logout: mic for tester, by ssh" microphone by_ssh tester "$truth records $pcm"
says "logout: the seat's entry is what is missing" 'has_code("camera"; "no-seat-acl") and exits(1)'
ask --user tester camera mic
agree "logout: camera, --user tester" camera as tester bash -c "captures $camera"
systemctl unmask -q --runtime getty@tty1.service
systemctl start getty@tty1.service
lab-seat true
wait_for_entry yes
ask_by at_seat permcheck camera
agree "logged in again: camera" camera at_seat bash -c "$truth captures $camera"
