# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# permcheck request through sudo and pkexec: from the seat, by policy, and from elsewhere.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c

seat() { lab-seat "$@"; }
by_ssh() { local user=$1; shift; ssh -q -S "/run/lab-ssh-elevation-$user" "$user@localhost" "$*"; }
export -f seat by_ssh
without_entry() { setfacl -x u:tester "$camera" "$pcm" /dev/snd/controlC0; }
policy() {                  # policy RESULT: what polkit answers to an active local session
    if [ "$1" = default ]; then rm -f /etc/polkit-1/rules.d/10-lab.rules; else
        printf 'polkit.addRule(function(action, subject) {\n  if (action.id == "org.permissionkit.permcheck" && subject.active && subject.local)\n    return polkit.Result.%s;\n});\n' "$1" >/etc/polkit-1/rules.d/10-lab.rules
    fi
    systemctl restart polkit
}
# fails_fast COMMAND...: within the time that a person would wait, with a message.
fails_fast() {              # with a message, whatever the status says of it
    local status=0
    timeout 30 bash -c '"$@"' - "$@" >"$lab_tmp/fast" 2>&1 || status=$?
    cat "$lab_tmp/fast"
    echo "status $status"
    [ $status != 124 ] && grep -q '^permcheck: ' "$lab_tmp/fast"
}

printf 'ControlMaster auto\nControlPersist 900\nKexAlgorithms curve25519-sha256\n' >>/root/.ssh/config
mkdir -p /run/sshd /etc/polkit-1/rules.d
pgrep -x sshd >/dev/null || /usr/sbin/sshd
by_ssh other true &
lab-seat true
wait $!

section "installed"
check "Scripts/install" env PREFIX=/usr/local bash Scripts/install permcheck
check "the action is known to polkit" bash -c 'pkaction --action-id org.permissionkit.permcheck --verbose | grep -q "implicit any: *no"'

section "the seat, by policy"
policy YES
without_entry
refuse "seat: tester is refused without his entry" seat probe $camera
try camera lab-seat probe $camera
ask_by seat permcheck request camera --yes --via pkexec
says "seat: pkexec gives it" 'status("camera") == "authorized" and answer.applied is True and exits(0)'
check "seat: and it is real" seat probe $camera
refuse "seat: other stays out" by_ssh other probe $camera
check "seat: the journal is root's, the grant tester's" bash -c 'permcheck list --grants --format plain | grep -q "tester.*/dev/video0"'
check "seat: revoked by pkexec" seat permcheck revoke camera --via pkexec
refuse "seat: refused again" seat probe $camera
check "seat: run --request by pkexec" seat permcheck run camera --request --yes --via pkexec -- probe $camera
refuse "seat: nothing is left behind" seat probe $camera

section "where nobody may or nobody is there to ask"
check "ssh: pkexec is refused at once" fails_fast by_ssh other permcheck request camera --yes --via pkexec
refuse "ssh: nothing was changed" by_ssh other probe $camera
policy default
check "seat without an agent: refused at once" fails_fast seat permcheck request camera --yes --via pkexec
refuse "seat without an agent: nothing was changed" seat probe $camera
check "sudo without a terminal: refused at once" fails_fast by_ssh other permcheck request camera --yes --via sudo
check "a forged PKEXEC_UID is nothing" fails_fast by_ssh other env PKEXEC_UID=0 SUDO_UID=1000 permcheck request --elevated camera --yes
refuse "forged: nothing was changed" by_ssh other probe $camera

section "sudo"
printf 'other ALL=(root) NOPASSWD: /usr/local/bin/permcheck\n' >/etc/sudoers.d/lab
chmod 440 /etc/sudoers.d/lab
check "sudo: other gets the camera" by_ssh other permcheck request camera --yes --via sudo
check "sudo: and it is real" by_ssh other probe $camera
refuse "sudo: tester gained nothing" seat probe $camera
install -d -m 700 /home/other/Pictures
check "sudo: photos are for an administrator in person" fails_fast by_ssh other sudo -n permcheck request --elevated photos --yes
refuse "sudo: photos were left alone" by_ssh other ls /home/other/Pictures
check "sudo: revoked" by_ssh other permcheck revoke camera --via sudo
refuse "sudo: refused again" by_ssh other probe $camera
rm /etc/sudoers.d/lab
udevadm trigger --action=change "$camera" "$pcm" /dev/snd/controlC0
settle
