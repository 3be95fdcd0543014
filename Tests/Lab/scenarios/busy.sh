# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Another process captures: ALSA says EBUSY at open, V4L2 only when streaming.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c

# hold COMMAND...: runs it in the background; its pid is $holder. v4l2-ctl notes each
# frame on standard error, so that nobody has to try the camera to see that it streams.
hold() { "$@" >"$lab_tmp/holder" 2>&1 & holder=$!; }
release() { kill "$holder"; wait "$holder" 2>/dev/null; }
record() { hold "$@" arecord -q -D hw:0,0 -f S16_LE -r 8000 -c 1 -t raw /dev/null; wait_for is_recorded; }
stream() { hold "$@" v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=0 --stream-to=/dev/null; wait_for is_streamed; }
is_recorded() { grep -qs 'state: RUNNING' /proc/asound/card0/pcm0c/sub0/status; }
is_streamed() { [ -s "$lab_tmp/holder" ]; }
wait_for() {
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    check "waited for $*" false
}
is_busy() { "$@" >"$lab_tmp/busy" 2>&1; cat "$lab_tmp/busy"; grep -q 'Device or resource busy' "$lab_tmp/busy"; }
member=(setpriv --reuid=member --regid=member --init-groups)
# The holder as the reason's evidence has to give it: by pid and program.
holder_is() {
    printf 're.search(r"\\b%s\\b.*%s|%s.*\\b%s\\b", evidence("%s", "busy"))' "$holder" "$2" "$2" "$holder" "$1"
    echo ' is not None'
}

drivers snd-dummy pcm_substreams=1
drivers vivid n_devs=2

section "a microphone in use"
ask mic
says "mic: authorized before" 'status("microphone") == "authorized" and not has("microphone", "busy") and exits(0)'
record
check "mic: arecord finds it busy" is_busy arecord -q -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 /dev/null
refuse "mic: open answers EBUSY" probe "$pcm"
ask mic
says "mic: the kernel's EBUSY is in the report" '"EBUSY" in errnos("microphone")'
says "mic: it is not called authorized" 'status("microphone") != "authorized"'
says "mic: busy is the reason, proven" 'has("microphone", "busy", "proven")'
says "mic: the holder is named, by pid and program" "$(holder_is microphone arecord)"
ask mic --probe none
says "mic: without opening it the holder is known, too" "$(holder_is microphone arecord)"
ask member mic
says "mic: member is told that it is busy" 'has("microphone", "busy", "proven")'
ask tester mic
says "mic: tester is refused by the bits all the same" \
    'status("microphone") == "denied" and has("microphone", "not-in-group") and exits(1)'
release
ask mic
says "mic: authorized after" 'status("microphone") == "authorized" and not has("microphone", "busy") and exits(0)'
check "mic: and recording" records "$pcm"

section "a microphone that its user holds himself"
record "${member[@]}"
ask member mic
says "own mic: the holder is named" "$(holder_is microphone arecord)"
release

section "a camera that is open, not streaming"
hold bash -c 'exec 3<>"$1"; exec sleep 1000' - "$camera"
wait_for fuser -s "$camera"
check "open camera: a second program captures" captures "$camera"
ask camera=$camera
says "open camera: authorized, not busy" 'status("camera") == "authorized" and not has("camera", "busy") and exits(0)'
release

section "a camera that streams"
stream
check "camera: open still works" probe "$camera"
check "camera: v4l2-ctl finds it busy" is_busy v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=1 --stream-to=/dev/null
ask camera=$camera
says "camera: it is not called authorized" 'status("camera") != "authorized"'
says "camera: busy is the reason" 'has("camera", "busy")'
says "camera: the holder is named, by pid and program" "$(holder_is camera v4l2-ctl)"
says "camera: permcheck does not name itself" 'has("camera", "busy") and "permcheck" not in evidence("camera", "busy")'
ask member camera=$camera
says "camera: member learns that it is busy" 'has("camera", "busy")'
says "camera: and that the holder is not visible to him" '"not visible" in evidence("camera", "busy")'
check "camera: the stream was not disturbed" kill -0 "$holder"
# Busy means the same whoever is asked for, and however.
asleep() { "$@" sleep 1234 & asleep=$!; wait_for pgrep -n -x sleep; pid=$(pgrep -n -x sleep); }
busy_for_all() {            # busy_for_all NAME: as root, for member and for a process of member
    asleep "${member[@]}"
    for more in "--user member" "--user member --probe none" "--pid $pid" "--pid $pid --probe enter" "--probe access"; do
        # shellcheck disable=SC2086
        ask camera=$camera $more
        says "$1, $more: busy" 'status("camera") == "restricted" and has("camera", "busy") and exits(1)'
    done
    ask_by "${member[@]}" unshare -Ur permcheck camera=$camera
    says "$1, in a user namespace, where ids are unknown: busy" 'status("camera") == "restricted" and has("camera", "busy")'
    ask camera=$camera --user member --user other
    says "$1, several users: busy" '[r.status for r in answer.reports] == ["restricted", "denied"]'
    ask camera=$camera --user tester
    says "$1, tester: the bits refuse all the same" 'status("camera") == "denied" and exits(1)'
    kill "$asleep"
    wait "$asleep" 2>/dev/null
}
busy_for_all "camera"
ask member camera=$camera --user member
says "camera: member asks for member by name" 'status("camera") != "authorized"'
ask camera
says "two cameras: the busy one alone is busy" \
    'status("camera") == "limited" and [r.path for r in report("camera").resources if any(x.code == "busy" for x in r.reasons)] == ["/dev/video0"]'
check "two cameras: the other one captures" captures /dev/video4
release
ask camera=$camera
says "camera: authorized after" 'status("camera") == "authorized" and not has("camera", "busy") and exits(0)'
check "camera: and capturing" captures "$camera"

section "a camera whose buffers somebody has, and who does not stream"
# VIDIOC_REQBUFS of two buffers, of V4L2_MEMORY_MMAP, which nobody maps.
hold python3 -c 'import fcntl, os, struct, sys, time
node = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(node, 0xC0145608, struct.pack("5I", 2, 1, 1, 0, 0))
print("has buffers", flush=True)
time.sleep(1000)' "$camera"
wait_for is_streamed
check "prepared: v4l2-ctl finds it busy" is_busy v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=1 --stream-to=/dev/null
for more in "" "--user member"; do
    # shellcheck disable=SC2086
    ask camera=$camera $more
    says "prepared ${more:-by root}: busy" 'status("camera") == "restricted" and has("camera", "busy")'
done
release
ask camera=$camera --user member
says "prepared: authorized after" 'status("camera") == "authorized" and not has("camera", "busy")'

section "a camera that its user holds himself"
stream "${member[@]}"
ask member camera=$camera
says "own camera: the holder is named" "$(holder_is camera v4l2-ctl)"
release
