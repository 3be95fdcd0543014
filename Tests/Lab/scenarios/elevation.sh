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
        printf 'polkit.addRule(function(action, subject) {\n  if (action.id.indexOf("org.permissionkit.permcheck.") == 0 && subject.active && subject.local)\n    return polkit.Result.%s;\n});\n' "$1" >/etc/polkit-1/rules.d/10-lab.rules
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

same_state() { diff <(echo "$1") <(everything); }
printf 'ControlMaster auto\nControlPersist 900\nKexAlgorithms curve25519-sha256\n' >>/root/.ssh/config
mkdir -p /run/sshd /etc/polkit-1/rules.d
pgrep -x sshd >/dev/null || /usr/sbin/sshd
by_ssh other true &
lab-seat true
wait $!

section "installed"
check "Scripts/install" env PREFIX=/usr/local bash Scripts/install permcheck
for action in grant revoke; do
    check "the action $action is known to polkit" bash -c "pkaction --action-id org.permissionkit.permcheck.$action --verbose | grep -q 'implicit any: *no'"
done
check "granting asks an administrator each time" bash -c 'pkaction --action-id org.permissionkit.permcheck.grant --verbose | grep -q "implicit active: *auth_admin$"'

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
check "seat: tester can read what he was given" bash -c 'seat permcheck revoke camera --via none >/dev/null; seat cat /var/lib/permcheck-users/$(id -u tester)/now/grants.jsonl | grep -q video0'
refuse "seat: other cannot read it" by_ssh other cat "/var/lib/permcheck-users/$(id -u tester)/now/grants.jsonl"
policy default
check "seat: revoked by pkexec, and nobody is asked" seat permcheck revoke camera --via pkexec
policy YES
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
refuse "a forged SUDO_UID is nothing" by_ssh other env SUDO_UID=1000 /usr/local/libexec/permcheck-helper grant camera
refuse "the helper is nothing without sudo" by_ssh other env PKEXEC_UID=0 /usr/local/libexec/permcheck-helper grant camera
refuse "forged: nothing was changed" by_ssh other probe $camera

section "sudo"
printf 'other ALL=(root) NOPASSWD: /usr/local/libexec/permcheck-helper\n' >/etc/sudoers.d/lab
chmod 440 /etc/sudoers.d/lab
check "sudo: other gets the camera" by_ssh other permcheck request camera --yes --via sudo
check "sudo: and it is real" by_ssh other probe $camera
refuse "sudo: tester gained nothing" seat probe $camera
install -d -m 700 /home/other/Pictures
check "sudo: photos are for an administrator in person" bash -c 'by_ssh other permcheck request photos --all --need rwx --yes 2>&1 | grep -qx "  sudo permcheck request photos.* --user other"'
refuse "sudo: photos were left alone" by_ssh other ls /home/other/Pictures
check "sudo: revoked" by_ssh other permcheck revoke camera --via sudo
refuse "sudo: refused again" by_ssh other probe $camera
everything() { getfacl -cnp /etc /root /home/* "$camera" "$pcm" /dev/snd/controlC0 /dev/null /dev/mem; id other; ls /etc/cron.d /etc/udev/rules.d; }
before=$(everything)
while read -r words; do
    by_ssh other sudo -n /usr/local/libexec/permcheck-helper "$words" >/dev/null 2>&1
    check "sudo: nothing by: $words" same_state "$before"
done <<'END'
grant photos
grant photos=/root
grant camera=/dev/mem
grant camera --strategy group
grant --strategy group camera
grant camera --user root
grant camera --log /etc/cron.d/x
request photos --elevated --strategy group --yes
run photos=/ -- id
revoke --all
grant camera --while 1
END
refuse "sudo: the helper alone, not permcheck" by_ssh other sudo -n permcheck list
check "sudo: run, killed" bash -c 'by_ssh other "permcheck run camera --request --yes --via sudo -- sleep 500" & for i in $(seq 200); do by_ssh other probe /dev/video0 && break; sleep 0.1; done; by_ssh other probe /dev/video0 && pkill -9 -u other -x permcheck'
check "sudo: the grant ended with it" bash -c 'for i in $(seq 100); do by_ssh other probe /dev/video0 || exit 0; sleep 0.1; done; exit 1'
pkill -u other -x sleep
check "auto, without a terminal: sudo is tried" by_ssh other permcheck request camera --yes
check "auto: it is real" by_ssh other probe $camera
check "auto: revoked" by_ssh other permcheck revoke camera
refuse "auto: refused again" by_ssh other probe $camera
check "auto: whoever names himself is served" by_ssh other permcheck request camera --user other --yes
check "auto: and it is real again" by_ssh other probe $camera
check "auto: revoked again" by_ssh other permcheck revoke camera
check "auto: for a second" by_ssh other permcheck request camera --for 1s --yes
check "auto: and for good" by_ssh other permcheck request camera --yes
sleep 1.2
by_ssh other permcheck revoke --expired
check "auto: what has no end is not taken back with what has expired" by_ssh other probe $camera
check "auto: revoked for good" by_ssh other permcheck revoke camera
refuse "auto: and refused" by_ssh other probe $camera
refuse "auto: refused again" by_ssh other probe $camera
rm /etc/sudoers.d/lab
check "auto, where neither helps: refused, not failed" bash -c 'by_ssh other permcheck request camera --yes; [ $? = 1 ]'
check "and run does not run" bash -c 'by_ssh other permcheck run camera --request --yes -- true; [ $? = 126 ]'
udevadm trigger --action=change "$camera" "$pcm" /dev/snd/controlC0
settle

section "a grant with a time ends by itself"
check "the timer runs" systemctl is-active permcheck-expire.timer
check "and is there for every user" systemctl --global is-enabled permcheck-expire.timer
refuse "other is refused" by_ssh other probe $camera
permcheck request camera --user other --for 5s --yes >"$lab_tmp/given"
check "success names the end and the undo" bash -c "grep -q 'ends by itself' $lab_tmp/given && grep -q 'permcheck revoke --request 20' $lab_tmp/given"
check "other has it" by_ssh other probe $camera
check "other sees what root gave" bash -c 'by_ssh other permcheck list --grants | grep -q "root\|$(hostname)\|/dev/video0"'
for _ in {1..150}; do by_ssh other probe $camera >/dev/null 2>&1 || break; sleep 1; done
refuse "and nobody did anything" by_ssh other probe $camera
systemctl stop permcheck-expire.timer
permcheck request camera --user other --for 1s --yes >/dev/null
sleep 2
check "without the timer it is listed as expired" bash -c 'permcheck list --grants | grep -q "EXPIRED, still in place"'
check "and checked as expired" bash -c 'by_ssh other permcheck camera | grep -q "EXPIRED, still in place"'
permcheck request mic --user other --yes >/dev/null
check "installed again, the other way round: removed" env PREFIX=/usr/local sh Scripts/install --remove
refuse "with what it had given" by_ssh other probe $pcm
check "and no unit is left" bash -c '! systemctl cat permcheck-expire.timer && ! ls /usr/local/lib/systemd/*/permcheck* /etc/systemd/*/timers.target.wants/permcheck* 2>/dev/null'
install -m 755 permcheck /usr/local/bin/
install -D -m 755 permcheck-helper /usr/local/libexec/permcheck-helper
