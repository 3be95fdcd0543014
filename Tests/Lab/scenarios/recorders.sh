# boot: min
# recorders: yes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# fswebcam and arecord with the patches of Examples/patched: granted, refused, revoked while they wait, absent, busy.
export LD_LIBRARY_PATH=$PWD/recorders/lib
out=$lab_tmp/out errors=$lab_tmp/errors work=$(mktemp -d)
chmod 777 "$work"
camera=/dev/video0
# ALSA opens the control node of the card, too.
mic=(/dev/snd/pcmC0D0c /dev/snd/controlC0)

takes() { timeout 60 recorders/fswebcam -q --no-banner -r 320x180 -d "$camera" "$@" "$work/picture.jpg"; }
sounds() { timeout 60 recorders/arecord -q -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 "$@" "$work/sound.wav"; }
# run_as USER COMMAND...: runs it, and fails if it writes to standard output.
run_as() {
    local user=$1 status=0
    shift
    rm -f "$work"/*
    as "$user" bash -c "$(declare -f "$1"); camera=$camera work=$work; \"\$@\"" - "$@" >"$out" 2>"$errors" </dev/null || status=$?
    cat "$out" "$errors"
    ls -s "$work"
    [ ! -s "$out" ] || { echo "it writes to standard output"; return 2; }
    return $status
}
records_as() { run_as "$@" && [ -n "$(find "$work" -type f -size +3k)" ]; }
# refused TEXT USER COMMAND...: it ends with a status, says TEXT and records nothing.
refused() {
    local text=$1 status=0
    shift
    run_as "$@" || status=$?
    [ $status = 1 ] && grep -q "$text" "$errors" && [ -z "$(find "$work" -type f -size +0)" ]
}
wait_for() {
    for _ in $(seq 150); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    check "waited for $*" false
}
# A program and no function of the shell, or the shell between would be ended and the program not.
holds() { "$@" >"$lab_tmp/holder" 2>&1 & holder=$!; }
member=(setpriv --reuid=member --regid=member --init-groups)
is_recorded() { grep -qs 'state: RUNNING' /proc/asound/card0/pcm0c/sub0/status; }
is_streamed() { [ -s "$lab_tmp/holder" ]; }
says_waiting() { grep -q "$1" "$errors"; }
# later WAITING COMMAND...: does COMMAND when the program has said that it waits.
later() { (wait_for says_waiting "$1"; shift; "$@") & helper=$!; }

drivers snd-dummy pcm_substreams=1
# A scenario before this one may have left a node of its own.
modprobe -r vivid
rm -f /dev/video*
drivers vivid n_devs=1

section "granted"
check "a member of group video takes a picture" records_as member takes
check "a member of group audio records" records_as member sounds

section "refused"
check "fswebcam says why" refused "No camera: .*group video" tester takes
check "arecord says why" refused "no microphone: .*group audio" tester sounds
check "without a terminal nobody is asked" refused "No camera: .*group video" tester takes --ask
check "nor for the microphone" refused "no microphone: .*group audio" tester sounds --ask

section "given while it waits"
later "Waiting for the camera" setfacl -m u:tester:rw "$camera"
check "fswebcam waits, and takes the picture" records_as tester takes -v --wait 50
wait "$helper"
later "waiting for the microphone" setfacl -m u:tester:rw "${mic[@]}"
loud() { timeout 60 recorders/arecord -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 --wait=50 "$work/sound.wav"; }
check "arecord waits, and records" records_as tester loud
wait "$helper"

section "busy"
holds "${member[@]}" v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=0 --stream-to=/dev/null
wait_for is_streamed
check "fswebcam names who has the camera" refused "No camera: .*v4l2-ctl" member takes

section "revoked while it waits"
revoke_camera() { setfacl -x u:tester "$camera"; kill "$holder"; }
later "Waiting for the camera" revoke_camera
check "the camera is free, and tester may not use it any more" refused "No camera: .*no ACL entry names tester" tester takes -v --wait 8
wait "$helper"
wait "$holder" 2>/dev/null
check "nobody has the camera any more" captures "$camera"
holds arecord -q -D hw:0,0 -f S16_LE -r 8000 -c 1 -t raw /dev/null
wait_for is_recorded
check "arecord names who has the microphone" refused "no microphone: .*arecord" member sounds
revoke_pcm() { setfacl -x u:tester "${mic[@]}"; kill "$holder"; }
loud() { timeout 60 recorders/arecord -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 --wait=8 "$work/sound.wav"; }
later "waiting for the microphone" revoke_pcm
check "the microphone is free, and tester may not use it any more" refused "no microphone: .*no ACL entry names tester" tester loud
wait "$helper"
wait "$holder" 2>/dev/null

section "absent"
camera=/dev/video9
check "fswebcam says that there is none" refused "No camera: there is no /dev/video9" member takes
modprobe -r snd-dummy
settle
default() { timeout 60 recorders/arecord -q -d 1 -f S16_LE -r 8000 -c 1 "$work/sound.wav"; }
check "arecord says that there is none" refused "no microphone: there is no microphone" member default
