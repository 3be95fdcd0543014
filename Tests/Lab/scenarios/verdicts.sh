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
    for user; do
        ask "$user" camera mic
        agree "$situation: camera, asked by $user" camera as "$user" bash -c "captures $camera"
        agree "$situation: mic, asked by $user" microphone as "$user" bash -c "records $pcm"
        says "$situation: exit status for $user" '(if all(.reports[]; .status == "authorized") then 0 else 1 end) as $n | exits($n)'
        ask --user "$user" camera mic
        agree "$situation: camera, --user $user" camera as "$user" bash -c "captures $camera"
        agree "$situation: mic, --user $user" microphone as "$user" bash -c "records $pcm"
    done
}
plain() {                   # as udev made them
    setfacl -b "$camera" "$pcm" "$control"
    chown root:video "$camera"
    chown root:audio "$pcm" "$control"
    chmod 660 "$camera" "$pcm" "$control"
}

modprobe -r snd-aloop snd-dummy
drivers snd-dummy
drivers vivid

section "as udev makes the nodes"
plain
judge plain "${users[@]}"
ask tester camera mic
says "plain: tester is not in the groups" \
    'has_code("camera"; "not-in-group") and has_code("microphone"; "not-in-group") and ([.reports[].requestable] | all) and exits(1)'
ask member camera
says "plain: member by the group's bits" 'resource("/dev/video0").decision.rule == "group-bits"'
ask --user 1001 camera mic
says "plain: a uid does as well as a name" '.subject.uid == 1001 and .subject.user == "member" and exits(0)'
ask_by setpriv --reuid=member --regid=member --clear-groups permcheck camera
agree "plain: member without his groups" camera setpriv --reuid=member --regid=member --clear-groups bash -c "captures $camera"
says "plain: member without his groups has stale groups" 'has_code("camera"; "stale-groups")'

section "an ACL entry for tester"
setfacl -m u:tester:rw "$camera" "$pcm" "$control"
judge acl "${users[@]}"
ask tester camera
says "acl: the entry decides" 'resource("/dev/video0").decision.rule == "acl-user:1000"'
ask other camera
says "acl: other is not named" 'has_code("camera"; "not-in-group")'

section "the mask is lowered by chmod"
chmod 600 "$camera" "$pcm" "$control"
judge "chmod 600" "${users[@]}"
ask tester camera
says "chmod 600: the mask is the reason" 'has_code("camera"; "acl-mask")'
chmod 640 "$camera" "$pcm" "$control"
judge "chmod 640" tester member
ask tester camera
says "chmod 640: the mask is the reason" 'has_code("camera"; "acl-mask")'

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
says "owner 0060: the owner's bits are the reason" 'has_code("camera"; "owner-bits")'

section "the PCM alone, without the control node"
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
ask tester mic
agree "parent: mic, asked by tester" microphone as tester bash -c "records $pcm"
ask --user tester mic
agree "parent: mic, --user tester" microphone as tester bash -c "records $pcm"
says "parent: the folder is the reason" 'has_code("microphone"; "parent-search")'
chmod 755 /dev/snd

section "a file capability"
plain
capable=cap_dac_override+ep
for program in permcheck v4l2-ctl arecord; do
    cp "$(command -v "$program")" "/usr/local/bin/cap-$program"
    setcap "$capable" "/usr/local/bin/cap-$program"
done
frame() { as tester timeout 20 cap-v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=1 --stream-to=/tmp/frame && test -s /tmp/frame; }
sound() { as tester timeout 20 cap-arecord -q -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 /tmp/sound && test -s /tmp/sound; }
ask_by as tester cap-permcheck camera mic
agree "file capability: camera, asked by tester" camera frame
agree "file capability: mic, asked by tester" microphone sound
says "file capability: the capability decides" 'resource("/dev/video0").decision.rule == "cap-dac-override" and exits(0)'
ask_by as tester cap-permcheck --user tester camera mic
says "file capability: --user tester does not have it" 'status("camera") == "denied" and status("microphone") == "denied" and exits(1)'

section "root without CAP_DAC_OVERRIDE"
weak=(setpriv --bounding-set=-dac_override --inh-caps=-dac_override)
ask_by "${weak[@]}" permcheck camera mic
agree "weak root: as the owner, camera" camera "${weak[@]}" bash -c "captures $camera"
agree "weak root: as the owner, mic" microphone "${weak[@]}" bash -c "records $pcm"
chown tester:tester "$camera" "$pcm" "$control"
chmod 600 "$camera" "$pcm" "$control"
ask_by "${weak[@]}" permcheck camera mic
agree "weak root: not the owner, camera" camera "${weak[@]}" bash -c "captures $camera"
agree "weak root: not the owner, mic" microphone "${weak[@]}" bash -c "records $pcm"
says "weak root: the missing capability is the reason" 'has_code("camera"; "root-without-capability") and exits(1)'
says "weak root: nobody tells root to join a group" 'all(.. | .remedies? // [] | .[]; .kind != "group")'
judge "tester's own" root tester
plain
