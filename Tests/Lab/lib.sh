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
#   says NAME FILTER [NOTE]  a check that passes when jq's FILTER is true of the answer;
#                            it may use the functions below
#   agree NAME ACCESSOR COMMAND...   a check that the answer's status is authorized when
#                            COMMAND succeeds, and denied or restricted when it fails
#   drivers MODULE [PARAMETER...]    takes the module out and loads it again; waits for udev
#   settle                   waits until udev has dealt with every event
#
# Every check prints what it saw. A check listed in `pending` may fail, and must.
set -u
: "${SCENARIO:?}"
lab_tmp=$(mktemp -d)
trap 'rm -rf "$lab_tmp"' EXIT
answer='{}' answer_exit=-1
users=(root tester member other)

# shellcheck disable=SC2016
jq_functions='
def report($a): .reports[] | select(.accessor == $a);
def status($a): report($a).status;
def resource($path): .reports[].resources[] | select(.path == $path);
def paths($a): [report($a).resources[].path];
def has_code($a; $c): any(report($a) | .. | objects | .code? // empty; . == $c);
def has_code($a; $c; $certainty):
  any(report($a) | .. | objects | select(.code? == $c); .certainty == $certainty);
def evidence($a; $c): [report($a) | .. | objects | select(.code? == $c) | .message, (.evidence | tostring)] | join(" ");
def errno($a): [report($a).resources[] | .decision.errno?, .probe.errno?] | map(select(. != null));
def exits($n): $exit == $n and .exitStatus == $n;
def summary:
  .reports[] | "\(.accessor) \(.status)" + (if .requestable then ", requestable" else "" end),
    (.resources[] | "  \(.path) [\(.label)] \(.status), predicted \(.decision.verdict // "nothing")"
      + " \(.decision.errno // "") by \(.decision.rule // "-") at \(.decision.component // "-")"
      + ", probe \(if .probe then (.probe.errno // "ok") else "none" end)"
      + ([.reasons[]? | ", \(.code) (\(.certainty)): \(.message)"] | join("")));
'

section() { printf '\n-- %s\n' "$*"; }

# result WORD NAME: writes one check's result; its evidence is in $lab_tmp/seen.
result() {
    local word=$1 key="$SCENARIO: $2" note=''
    echo "$key" >>/lab/ran
    if grep -qxF -- "$key" /lab/pending; then
        if [ "$word" = ok ]; then word=FAIL note='  (passes now: remove it from pending)'; else word=pending; fi
    fi
    printf '%-7s %s%s\n' "$word" "$key" "$note"
    head -n 12 "$lab_tmp/seen" | cut -c1-300 | sed 's/^/          /'
}

check() {
    local name=$1
    shift
    if "$@" >"$lab_tmp/seen" 2>&1; then result ok "$name"; else result FAIL "$name"; fi
}

refuse() {
    local name=$1
    shift
    if "$@" >"$lab_tmp/seen" 2>&1; then result FAIL "$name"; else result ok "$name"; fi
}

as() {
    local user=$1 home=/home/$1
    shift
    [ "$user" != root ] || home=/root
    setpriv --reuid="$user" --regid="$user" --init-groups env HOME="$home" USER="$user" LOGNAME="$user" "$@"
}

# A capture that never comes must not stop the run: nothing here takes long.
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

ask_by() {
    answer=$("$@" --json 2>"$lab_tmp/stderr")
    answer_exit=$?
    jq -e . >/dev/null 2>&1 <<<"$answer" && return
    printf 'no JSON from: %s --json (exit %s)\n' "$*" "$answer_exit" >"$lab_tmp/seen"
    { head -c 300 <<<"$answer"; cat "$lab_tmp/stderr"; } >>"$lab_tmp/seen"
    answer=''
}

ask() {
    local user=root
    for u in "${users[@]}"; do [ "$1" != "$u" ] || { user=$u; shift; break; }; done
    if [ "$user" = root ]; then ask_by permcheck "$@"; else ask_by as "$user" permcheck "$@"; fi
}

says() {
    local word=ok
    [ -n "$answer" ] || word=FAIL
    if [ $word = ok ]; then
        jq -e --argjson exit "$answer_exit" "$jq_functions $2" >/dev/null 2>"$lab_tmp/stderr" <<<"$answer" || word=FAIL
        {
            [ $word = ok ] || echo "wanted: $2"
            [ $# = 2 ] || echo "$3"
            jq -r "$jq_functions summary" <<<"$answer"
            echo "exit $answer_exit"
            cat "$lab_tmp/stderr"
        } >"$lab_tmp/seen" 2>&1
    fi
    result $word "$1"
}

agree() {
    local name=$1 accessor=$2 truth=refused wanted='denied|restricted'
    shift 2
    if "$@" >"$lab_tmp/truth" 2>&1; then truth=works wanted=authorized; fi
    says "$name" "status(\"$accessor\") | test(\"^($wanted)\$\")" \
        "really: $truth: $(tail -n 1 "$lab_tmp/truth")"
}

settle() { udevadm settle --timeout=30; }

drivers() {
    modprobe -r "$1" 2>/dev/null
    modprobe "$@"
    settle
}
