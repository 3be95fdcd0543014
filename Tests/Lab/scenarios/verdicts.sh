# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Every verdict against what v4l2-ctl and arecord really achieve as that user.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c control=/dev/snd/controlC0

# judge SITUATION USER...: each user's own answer and root's answer about the
# user must agree with a real capture as that user.
judge() {
    local situation=$1 user
    shift
    # Two users can record at the same time, but not stream from one camera.
    for user; do try "microphone-$user" as "$user" bash -c "records $pcm"; done
    for user; do
        try "camera-$user" as "$user" bash -c "captures $camera"
        wait "${tries[-1]}"
    done
    for user; do
        ask "$user" camera mic
        agree "$situation: camera, asked by $user" camera "camera-$user"
        agree "$situation: mic, asked by $user" microphone "microphone-$user"
        says "$situation: exit status for $user" \
            'exits(0 if all(r.status == "authorized" for r in answer.reports) else 1)'
        ask --user "$user" camera mic
        agree "$situation: camera, --user $user" camera "camera-$user"
        agree "$situation: mic, --user $user" microphone "microphone-$user"
    done
}
plain() {                   # as udev made them
    setfacl -b "$camera" "$pcm" "$control"
    chown root:video "$camera"
    chown root:audio "$pcm" "$control"
    chmod 660 "$camera" "$pcm" "$control"
}

section "as udev makes the nodes"
plain
judge plain root tester member other
ask tester camera mic
says "plain: tester is not in the groups, and can request" \
    'all(has(a, "not-in-group") and report(a).requestableBy for a in ("camera", "microphone")) and exits(1)'
ask member camera
says "plain: member by the group's bits" 'resource("/dev/video0").decision.rule == "group-bits"'
ask --user 1001 camera mic
says "plain: a uid does as well as a name" 'answer.subject.uid == 1001 and answer.subject.user == "member" and exits(0)'
groupless=(setpriv --reuid=member --regid=member --clear-groups)
try camera "${groupless[@]}" bash -c "captures $camera"
ask_by "${groupless[@]}" permcheck camera
agree "plain: member without his groups" camera
says "plain: member without his groups has stale groups" 'has("camera", "stale-groups") and [m.command for m in remedies("camera")] == [["newgrp", "video"]]'
refuse "plain: member without his groups is refused" "${groupless[@]}" probe $camera
# Where the account has no password, newgrp asks for that of the group, as its note says.
usermod -p '*' member
check "plain: newgrp as printed gives member his group" "${groupless[@]}" bash -c "newgrp video <<<'probe $camera'"
passwd -qd member

section "an ACL entry for tester"
setfacl -m u:tester:rw "$camera" "$pcm" "$control"
judge acl root tester member other
ask tester camera
says "acl: the entry decides" 'resource("/dev/video0").decision.rule == "acl-user:1000"'
ask other camera
says "acl: other is not named" 'has("camera", "not-in-group")'

section "the mask is lowered by chmod"
chmod 600 "$camera" "$pcm" "$control"
judge "chmod 600" root tester member other
ask tester camera
says "chmod 600: the mask is the reason" 'has("camera", "acl-mask")'
chmod 640 "$camera" "$pcm" "$control"
judge "chmod 640" tester member
ask tester camera
says "chmod 640: the mask is the reason" 'has("camera", "acl-mask")'

section "the other bits"
plain
chmod 606 "$camera" "$pcm" "$control"
judge "chmod 606" tester member
plain
chmod 666 "$camera" "$pcm" "$control"
judge "chmod 666" tester

section "the owner's bits"
plain
chown tester "$camera" "$pcm" "$control"
chmod 060 "$camera" "$pcm" "$control"
judge "owner 0060" root tester member
ask tester camera
says "owner 0060: the owner's bits are the reason" 'has("camera", "owner-bits")'
chmod 600 "$camera" "$pcm" "$control"
judge "owner 0600" root tester

section "the PCM without its control node, and the reverse"
plain
setfacl -m u:tester:rw "$pcm"
judge "no control" tester
ask tester mic
says "no control: denied, because of the control node" \
    'status("microphone") == "denied" and resource("/dev/snd/controlC0").status == "denied" and exits(1)'
plain
setfacl -m u:tester:rw "$control"
judge "no pcm" tester

section "read alone"
plain
setfacl -m u:tester:r "$camera" "$pcm" "$control"
judge "read alone" tester
ask tester camera --need r
says "read alone: --need r is authorized" 'status("camera") == "authorized" and exits(0)'

section "a parent without search"
plain
chmod 666 "$camera" "$pcm" "$control"
chmod 700 /dev/snd
judge parent tester root
ask tester mic
says "parent: the folder is the reason" 'has("microphone", "parent-search")'
chmod 755 /dev/snd

section "a file capability"
plain
for program in permcheck v4l2-ctl arecord; do
    cp "$(command -v "$program")" "/usr/local/bin/cap-$program"
    setcap cap_dac_override+ep "/usr/local/bin/cap-$program"
done
capable() { sed 's/v4l2-ctl -d/cap-&/; s/arecord -q/cap-&/' <<<"$(declare -f captures records); $1"; }
try camera as tester bash -c "$(capable "captures $camera")"
try microphone as tester bash -c "$(capable "records $pcm")"
ask_by as tester cap-permcheck camera mic
agree "file capability: camera, asked by tester" camera
agree "file capability: mic, asked by tester" microphone
says "file capability: the capability decides" 'resource("/dev/video0").decision.rule == "cap-dac-override" and exits(0)'
ask_by as tester cap-permcheck --user tester camera mic
says "file capability: --user tester does not have it" \
    'status("camera") == "denied" and status("microphone") == "denied" and exits(1)'

section "root without CAP_DAC_OVERRIDE"
weak=(setpriv --bounding-set=-dac_override --inh-caps=-dac_override)
judge_weak() {
    try camera "${weak[@]}" bash -c "captures $camera"
    try microphone "${weak[@]}" bash -c "records $pcm"
    ask_by "${weak[@]}" permcheck camera mic
    agree "weak root: $1, camera" camera
    agree "weak root: $1, mic" microphone
}
judge_weak "as the owner"
chown tester:tester "$camera" "$pcm" "$control"
judge_weak "not the owner"
says "weak root: the missing capability is the reason" 'has("camera", "root-without-capability") and exits(1)'
says "weak root: nobody tells root to join a group" 'all(m.kind != "group" for m in remedies("camera"))'
plain
