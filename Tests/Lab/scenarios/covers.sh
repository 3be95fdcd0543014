# boot: full
# image: boxes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# What a sandbox mounts over a node or a folder: the sandbox is named, and nothing is called missing.
camera=/dev/video0
member=(env HOME=/home/member USER=member setpriv --reuid=member --regid=member --init-groups)
mkdir -p /home/member /srv/empty-folder
chown member: /home/member
: >/srv/empty-file

# asleep COMMAND...: runs `sleep` below COMMAND and keeps its pid.
asleep() {
    "$@" timeout 60 sleep 1234 </dev/null &
    asleep=$!
    pid=''
    for _ in {1..100}; do
        sleep 0.1
        pid=$(pgrep -n -f '^sleep 1234')
        [ -z "$pid" ] || break
    done
}
awake() { kill "$pid" "$asleep" 2>/dev/null; wait "$asleep" 2>/dev/null; }

truth="$(declare -f captures records);"

# covered NAME CODE WORD ACCESSOR NODE COMMAND...: what is covered by the sandbox that WORD names.
covered() {
    local name=$1 code=$2 word=$3 accessor=$4 node=$5 more names test=captures
    names="status('$4') == 'restricted' and has('$4', '$code') and all('$word' in r.message for r in reasons('$4') if r.code == '$code')"
    shift 5
    [ "$accessor" = camera ] || test=records
    refuse "$name: nothing is recorded" "$@" bash -c "$truth $test $node"
    ask_by "$@" permcheck "$accessor"
    says "$name: from within" "$names and exits(1)"
    asleep "$@"
    for more in none enter; do
        ask "$accessor" --pid "$pid" --probe $more
        says "$name: from outside, --probe $more" "$names"
    done
    awake
}
# refused NAME NODE COMMAND...: explain, which is about the path alone.
refused() {
    local name=$1 node=$2
    shift 2
    refuse "$name: it does not open" "$@" probe "$node"
    ask_by "$@" permcheck explain "$node" --need rw
    says "$name: explain" "exits(1)"
}
fire=("${member[@]}" firejail --quiet)
section "firejail"
check "works without it" "${member[@]}" bash -c "$truth captures $camera"
covered "the default profile" sandbox firejail camera $camera "${fire[@]}"
covered "--novideo" sandbox firejail camera $camera "${fire[@]}" --noprofile --novideo
covered "--nosound" sandbox firejail microphone /dev/snd/pcmC0D0c "${fire[@]}" --noprofile --nosound
covered "--blacklist" sandbox firejail camera $camera "${fire[@]}" --noprofile --blacklist=$camera
refused "--novideo" $camera "${fire[@]}" --noprofile --novideo
refused "--nosound" /dev/snd/pcmC0D0c "${fire[@]}" --noprofile --nosound
section "bubblewrap"
bubble=("${member[@]}" bwrap --dev-bind / /)
covered "an empty file" sandbox bwrap camera $camera "${bubble[@]}" --ro-bind /srv/empty-file $camera
covered "an empty folder" sandbox bwrap microphone /dev/snd/pcmC0D0c "${bubble[@]}" --ro-bind /srv/empty-folder /dev/snd
covered "/dev/null" sandbox bwrap camera $camera "${bubble[@]}" --dev-bind /dev/null $camera
refused "an empty file" $camera "${bubble[@]}" --ro-bind /srv/empty-file $camera
section "mounts of nobody that shows"
covered "an empty file" sandbox 'another mount' camera $camera \
    unshare --mount sh -c "mount --bind /srv/empty-file $camera; exec \"\$@\"" -
section "units"
unit() { systemd-run -q --wait --pipe --collect -p User=member "$@"; }
covered "InaccessiblePaths of the node" service-sandbox InaccessiblePaths camera $camera unit -p InaccessiblePaths=$camera
covered "InaccessiblePaths of the folder" service-sandbox InaccessiblePaths microphone /dev/snd/pcmC0D0c unit -p InaccessiblePaths=/dev/snd
refused "InaccessiblePaths of the node" $camera unit -p InaccessiblePaths=$camera
refused "InaccessiblePaths of the folder" /dev/snd/pcmC0D0c unit -p InaccessiblePaths=/dev/snd
