# boot: min
# examples: yes
# shellcheck shell=bash
# The tools of Examples/: refused, granted, revoked.

# ends STATUS COMMAND...: succeeds if the command ends with this status; prints what it wrote.
ends() {
    local status=0 wanted=$1
    shift
    "$@" </dev/null || status=$?
    echo "exit status $status"
    [ $status = "$wanted" ]
}
# tells TEXT COMMAND...: succeeds if a line of standard error begins with TEXT.
tells() {
    local text=$1
    shift
    "$@" </dev/null 2>&1 >/dev/null | tee /dev/stderr | grep -q "^$text"
}
picture() { [ "$(head -c 2 "$1")" = P6 ] && [ "$(wc -c <"$1")" -gt 100000 ]; }
sound() { [ "$(head -c 4 "$1")" = RIFF ] && [ "$(wc -c <"$1")" = $((44 + 2 * 8000)) ]; }
out=/home/tester/out log=/home/tester/log

for tool in snapshot:camera:picture record:mic:sound; do
    IFS=: read -r name accessor kind <<<"$tool"
    arguments=("$out")
    [ "$name" = snapshot ] || arguments+=(--seconds 1)
    section "$name"
    refuse "$name: the kernel refuses tester" as tester probe "$([ "$name" = snapshot ] && echo /dev/video0 || echo /dev/snd/pcmC0D0c)"
    check "$name is refused with 77" ends 77 as tester "$name" "${arguments[@]}"
    check "$name says why, in its own name" tells "$name: [a-z]*: denied" as tester "$name" "${arguments[@]}"
    refuse "$name wrote nothing" test -e "$out"
    check "$name waits in vain" ends 77 as tester "$name" "${arguments[@]}" --wait-for-access 1
    check "permcheck gives access to $accessor" permcheck request "$accessor" --user tester --yes
    check "$name works now" ends 0 as tester "$name" "${arguments[@]}" --no-request-access --access-log "$log"
    check "$name wrote a $kind" "$kind" "$out"
    check "$name keeps a log" grep -q '"status":"authorized"' "$log"
    rm -f "$out" "$log"
    check "permcheck takes it back from $accessor" permcheck revoke "$accessor" --user tester
    check "$name is refused again" ends 77 as tester "$name" "${arguments[@]}"
    refuse "$name wrote nothing after that" test -e "$out"
done
