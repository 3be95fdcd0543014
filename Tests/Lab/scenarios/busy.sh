# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Another process captures: ALSA says EBUSY at open, V4L2 only when streaming.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c

hold() { "$@" >/dev/null 2>&1 & holder=$!; }
release() { kill "$holder"; wait "$holder" 2>/dev/null; settle; }
streams='exec v4l2-ctl -d "$1" --stream-mmap=2 --stream-count=0 --stream-to=/dev/null'
recording='exec arecord -q -D hw:0,0 -f S16_LE -r 8000 -c 1 -t raw /dev/null'
wait_for() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
is_recorded() { grep -qs 'state: RUNNING' /proc/asound/card0/pcm0c/sub0/status; }
is_streamed() { ! v4l2-ctl -d "$1" --stream-mmap=2 --stream-count=1 --stream-to=/dev/null; }
really_busy() { "$@" 2>&1 | tee "$lab_tmp/busy"; grep -q 'Device or resource busy' "$lab_tmp/busy"; }

modprobe -r snd-aloop snd-dummy
drivers snd-dummy pcm_substreams=1
drivers vivid n_devs=2

section "a microphone in use"
ask mic
says "mic: authorized before" 'status("microphone") == "authorized" and (has_code("microphone"; "busy") | not) and exits(0)'
hold bash -c "$recording"
wait_for is_recorded
check "mic: arecord finds it busy" really_busy arecord -q -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 /dev/null
refuse "mic: open answers EBUSY" probe "$pcm"
ask mic
says "mic: the kernel's EBUSY is in the report" 'errno("microphone") | index("EBUSY") != null'
says "mic: it is not called authorized" 'status("microphone") != "authorized"'
says "mic: busy is the reason, proven" 'has_code("microphone"; "busy"; "proven")'
says "mic: the holder is named, by pid and program" \
    "evidence(\"microphone\"; \"busy\") | test(\"\\\\b$holder\\\\b\") and test(\"arecord\")"
ask mic --probe none
says "mic: without opening it the holder is known, too" "evidence(\"microphone\"; \"busy\") | test(\"\\\\b$holder\\\\b\")"
ask member mic
says "mic: member is told it is busy" 'has_code("microphone"; "busy"; "proven") and status("microphone") != "authorized"'
ask tester mic
says "mic: tester is refused all the same, by the group's bits" 'status("microphone") == "denied" and has_code("microphone"; "not-in-group") and exits(1)'
release
ask mic
says "mic: authorized after" 'status("microphone") == "authorized" and (has_code("microphone"; "busy") | not) and exits(0)'
check "mic: and recording" records "$pcm"

section "a microphone held by its own user"
hold setpriv --reuid=member --regid=member --init-groups bash -c "$recording"
wait_for is_recorded
ask member mic
says "own mic: the holder is named" "evidence(\"microphone\"; \"busy\") | test(\"\\\\b$holder\\\\b\") and test(\"arecord\")"
release

section "a camera opened, not streaming"
hold bash -c 'exec 3<>"$1"; exec sleep 1000' - "$camera"
wait_for fuser -s "$camera"
check "open camera: a second program captures" captures "$camera"
ask camera=$camera
says "open camera: authorized, not busy" 'status("camera") == "authorized" and (has_code("camera"; "busy") | not) and exits(0)'
release

section "a camera that streams"
hold bash -c "$streams" - "$camera"
wait_for is_streamed "$camera"
check "camera: open still works" probe "$camera"
check "camera: v4l2-ctl finds it busy" really_busy v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=1 --stream-to=/dev/null
ask camera=$camera
says "camera: it is not called authorized" 'status("camera") != "authorized"'
says "camera: busy is the reason" 'has_code("camera"; "busy")'
says "camera: the holder is named, by pid and program" \
    "evidence(\"camera\"; \"busy\") | test(\"\\\\b$holder\\\\b\") and test(\"v4l2-ctl\")"
says "camera: permcheck does not name itself" 'evidence("camera"; "busy") | test("permcheck") | not'
ask member camera=$camera
says "camera: member learns that it is busy" 'has_code("camera"; "busy")'
says "camera: and that the holder is not visible to him" 'evidence("camera"; "busy") | test("not visible")'
check "camera: the stream was not disturbed" kill -0 "$holder"
ask camera
says "two cameras: the busy one alone is busy" \
    'status("camera") == "limited" and ([resource("/dev/video4").reasons[].code] | index("busy")) == null
     and ([resource("/dev/video0").reasons[].code] | index("busy")) != null'
check "two cameras: the other one captures" captures /dev/video4
release
ask camera=$camera
says "camera: authorized after" 'status("camera") == "authorized" and (has_code("camera"; "busy") | not) and exits(0)'
check "camera: and capturing" captures "$camera"

section "a camera held by its own user"
hold setpriv --reuid=member --regid=member --init-groups bash -c "$streams" - "$camera"
wait_for is_streamed "$camera"
ask member camera=$camera
says "own camera: the holder is named" "evidence(\"camera\"; \"busy\") | test(\"\\\\b$holder\\\\b\") and test(\"v4l2-ctl\")"
release
