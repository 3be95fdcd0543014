# shellcheck shell=bash
# The words that scenarios are written in. Runs in the guest, as root, in /lab.
#
#   section TEXT             a heading
#   check NAME COMMAND...    a check that passes when COMMAND succeeds
#   refuse NAME COMMAND...   a check that passes when COMMAND fails
#   as USER COMMAND...       runs COMMAND as USER, with the groups of the user data base
#   captures NODE            succeeds when one frame comes from the video node
#   records PCM              succeeds when one second of sound comes from /dev/snd/pcmC0D0c
#   ask [USER] ARGUMENT...   keeps the answer of `permcheck ARGUMENT... --json` (as USER)
#   ask_by COMMAND...        the same, of a command that ends in permcheck and its arguments
#   says NAME EXPRESSION [NOTE]      a check that passes when the Python expression is
#                            true of the answer; judge.py has the functions for it
#   try NAME COMMAND...      what is really possible: COMMAND's success, kept under NAME
#   agree NAME ACCESSOR [TRY]        a check that the answer's status is authorized when the try
#                            succeeded, and denied or restricted when it failed
#   drivers MODULE [PARAMETER...]    takes the module out and loads it again; waits for udev
#   honest SITUATION FOLDER USER...  checks what permcheck says of a folder, asked by each user (also
#                            with --probe write) and by root with --user, against what the user can
#                            do there: never more, never less, and open only with $may_be_open
#   at_random LAYER MADE SEEN [no-acl]   a check by questions.py: 200 random questions, 0 wrong; the
#                            variables before it (INSIDE, PACK, SPOIL, ...) are told there
#   printed TEXT COMMAND...  a check that COMMAND prints the paragraph of README.md or the guide that has TEXT, but
#                            for process ids and padding
#   container_image TAR      packs a root file system with permcheck and probe in it
#   settle                   waits until udev has dealt with every event
#
# Every check prints what it saw. A check listed in `pending` may fail, and must.
set -u
: "${SCENARIO:?}"
lab_tmp=$(mktemp -d)
trap 'rm -rf "$lab_tmp"' EXIT
answer_exit=-1 asked='' tries=()
coproc judge { exec python3 judge.py "$lab_tmp"; }

# Under emulation a process costs a tenth of a second: what bash can do, bash does.
declare -A expected_to_fail
while IFS= read -r line; do
    case $line in '' | '#'*) ;; *) expected_to_fail[$line]=1 ;; esac
done <pending

section() { printf '\n-- %s  [%s s]\n' "$*" "$SECONDS"; }

# result WORD NAME [LINE...]: writes one check's result and its evidence.
result() {
    local word=$1 key="$SCENARIO: $2" note='' line lines=0
    shift 2
    echo "$key" >>ran
    if [ -n "${expected_to_fail[$key]-}" ]; then
        if [ "$word" = ok ]; then word=FAIL note='  (passes now: remove it from pending)'; else word=pending; fi
    fi
    printf '%-7s %s%s\n' "$word" "$key" "$note"
    for line; do
        [ $((lines += 1)) -le 20 ] || break
        printf '          %s\n' "${line:0:300}"
    done
}

# seen: what the last check printed, as lines
check() {
    local name=$1 word=ok
    shift
    "$@" >"$lab_tmp/seen" 2>&1 || word=FAIL
    mapfile -t seen <"$lab_tmp/seen"
    result $word "$name" "${seen[@]}"
}

refuse() {
    local name=$1 word=FAIL
    shift
    "$@" >"$lab_tmp/seen" 2>&1 || word=ok
    mapfile -t seen <"$lab_tmp/seen"
    result $word "$name" "${seen[@]}"
}

as() {
    local user=$1 home=/home/$1
    shift
    [ "$user" != root ] || home=/root
    HOME=$home USER=$user LOGNAME=$user setpriv --reuid="$user" --regid="$user" --init-groups "$@"
}

# A capture that never comes must not stop the run.
captures() {
    local frame
    frame=$(timeout 20 v4l2-ctl -d "$1" --stream-mmap=2 --stream-count=1 --stream-to=- 2>&1 | wc -c)
    echo "v4l2-ctl -d $1: $frame bytes"
    [ "$frame" -ge 10000 ]
}

records() {
    local pcm=${1##*/pcmC} sound
    pcm=${pcm%c}
    sound=$(timeout 20 arecord -q -D "hw:${pcm/D/,}" -d 1 -f S16_LE -r 8000 -c 1 -t raw 2>&1 | wc -c)
    echo "arecord -D hw:${pcm/D/,}: $sound bytes"
    [ "$sound" -ge 16000 ]
}
export -f captures records

# Tries run at the same time as each other, but never while permcheck does.
try() {
    local name=$1
    shift
    { "$@"; echo "exit $?"; } >"$lab_tmp/try.$name" 2>&1 &
    tries+=($!)
}
finish_tries() {
    [ ${#tries[@]} = 0 ] || wait "${tries[@]}"
    tries=()
}

ask_by() {
    finish_tries
    "$@" --json >"$lab_tmp/answer" 2>"$lab_tmp/stderr"
    answer_exit=$?
    asked="$*"
}

ask() {
    local user=root
    case $1 in root | tester | member | other) user=$1; shift ;; esac
    if [ "$user" = root ]; then ask_by permcheck "$@"; else ask_by as "$user" permcheck "$@"; fi
}

says() {
    local word=FAIL lines=() seen
    printf '%s %s\n' "$answer_exit" "${2//$'\n'/ }" >&"${judge[1]}"
    read -r <&"${judge[0]}"
    mapfile -t seen <"$lab_tmp/said"
    [ -z "${3-}" ] || lines+=("$3")
    if [ "${seen[0]-}" = ok ]; then
        word=ok
        # An answer that was just shown is not shown again.
        [ -z "$asked" ] || lines+=("$asked: exit $answer_exit" "${seen[@]:1}")
        asked=''
    else
        mapfile -t -O ${#seen[@]} seen <"$lab_tmp/stderr"
        lines+=("wanted: $2" "exit $answer_exit" "${seen[@]}")
    fi
    result $word "$1" "${lines[@]}"
}

agree() {
    local truth=refused wanted='"denied", "restricted"' seen
    finish_tries
    mapfile -t seen <"$lab_tmp/try.${3-$2}"
    if [ "${seen[*]: -1}" = 'exit 0' ]; then truth=works wanted='"authorized"'; fi
    says "$1" "status(\"$2\") in ($wanted,)" "really $truth: ${seen[*]: -2}"
}

# can FOLDER: what is really possible, by listing it and by creating a file.
can() {
    local rights='' name="$1/.lab-$EUID"
    ls "$1" >/dev/null 2>&1 && rights=list
    { : >"$name"; } 2>/dev/null && rights+=write && rm -f "$name"
    echo "$rights"
}
export -f can

may_be_open=''
honest() {
    local situation=$1 folder=$2 user truth how note
    shift 2
    for user; do
        truth=$(as "$user" bash -c "can '$folder'" 2>/dev/null)
        note="really: $user can ${truth:-nothing}"
        for how in "$user" "$user --probe write" "--user $user"; do
            # shellcheck disable=SC2086
            ask $how photos="$folder"
            says "$situation: $how" "honest('$truth', '$may_be_open', '$how')" "$note"
        done
    done
}

at_random() {
    local layer=$1
    shift
    mkdir -p "$1"
    check "$layer: 200 random questions, none wrong" python3 questions.py 1 200 "$@"
}

# paragraph TEXT: prints the paragraph of a code block of README.md or of the guide that has TEXT, without
# a command's line; where several have it, they must be the same.
paragraph() {
    python3 - "$1" <<'A'
import glob, re, sys
found = []
for file in ["README.md"] + sorted(glob.glob("guide/*.md")):
    for block in re.findall(r"```[a-z]*\n(.*?)```", open(file).read(), flags=re.S):
        for part in block.split("\n\n"):
            if sys.argv[1] in part:
                found.append("".join(line + "\n" for line in part.splitlines() if not line.startswith("$ ")))
if len(set(found)) != 1:
    sys.exit(f"{len(set(found))} different paragraphs of README.md and the guide have {sys.argv[1]}")
sys.stdout.write(found[0])
A
}
# block LANGUAGE TEXT: prints the code block of README.md in LANGUAGE that has TEXT.
block() {
    python3 - "$@" <<'A'
import re, sys
for block in re.findall(rf"```{sys.argv[1]}\n(.*?)```", open("README.md").read(), flags=re.S):
    if sys.argv[2] in block:
        sys.stdout.write(block)
A
}
plainly() {
    sed -E 's/\(pid [0-9]+/(pid N/g; s/([^ ]) {2,}/\1  /g; s/ +$//
        s/(T[0-9:.]+Z-)[0-9]+/\1N/g
        s/20[0-9]{2}-[0-9]{2}-[0-9]{2}/DATE/g; s/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+/TIME/g'
}
printed() {
    local text=$1
    shift
    check "as in the documents: $text" diff <(paragraph "$text" | plainly) <("$@" 2>&1 | plainly)
}

# What container_image packs: busybox, permcheck, probe, and the users root and u (1000).
container_image() {
    local root=/root/image tool library
    mkdir -p $root/{bin,lib64,etc,tmp,proc,dev,sys,run,usr/lib,root,lib/x86_64-linux-gnu,home/u,pics}
    cp /bin/busybox /bin/bash /usr/local/bin/{permcheck,probe,attempt} $root/bin/
    for tool in sh ls cat sleep rm; do ln -s busybox $root/bin/$tool; done
    for library in $(ldd /bin/bash /usr/local/bin/probe | grep -o '/lib[^ ]*' | sort -u); do
        [ -e "$library" ] && cp -L "$library" "$root$library"
    done
    printf 'root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n' >$root/etc/passwd
    printf 'root:x:0:\nu:x:1000:\nvideo:x:44:\naudio:x:29:\n' >$root/etc/group
    tar -C $root -cf "$1" .
    chmod 644 "$1"
}

settle() { udevadm settle --timeout=30; }

drivers() {
    modprobe -r "$1" 2>/dev/null
    modprobe "$@"
    settle
}

# A scenario with devices begins with one camera and one sound card, whichever ran before it.
grep -qx '# devices: none' "scenarios/$SCENARIO.sh" || {
    modprobe -r vivid snd-aloop snd-dummy
    modprobe -a vivid snd-dummy
    settle
}
