# boot: full
# image: sound
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Microphones and cameras through PipeWire: what it offers is said, and only to the user whose it is.
drivers snd-dummy pcm_substreams=1
run=/run/user/1000
session=(lab-seat env XDG_RUNTIME_DIR=$run DBUS_SESSION_BUS_ADDRESS=unix:path=$run/bus HOME=/home/tester)
hears='n=$(timeout 20 parec --raw --latency-msec=100 2>/dev/null | head -c 60000 | wc -c); echo "parec: $n bytes"; [ $n -ge 60000 ]'
way() { printf 'report("%s").alternatives[0].%s' "$1" "$2"; }

section "a socket, and no server yet"
"${session[@]}" systemctl --user stop pipewire-pulse.socket pipewire.socket pipewire-pulse pipewire wireplumber 2>/dev/null
"${session[@]}" systemctl --user start pipewire.socket pipewire-pulse.socket
ask_by "${session[@]}" permcheck mic --through server
says "it cannot be told" 'status("microphone") == "notDetermined" and "would start it" in evidence("microphone", "media-server")'
refuse "no server was started" "${session[@]}" systemctl --user is-active pipewire-pulse

section "PipeWire runs"
"${session[@]}" systemctl --user start pipewire wireplumber pipewire-pulse
for _ in {1..40}; do
    "${session[@]}" pactl list short sources | grep -q alsa_input && break
    sleep 0.5
done
check "recording works" "${session[@]}" bash -c "$hears"
ask_by "${session[@]}" permcheck mic --through server
says "and permcheck says so" 'status("microphone") == "authorized" and exits(0) and "PipeWire offers" in evidence("microphone", "media-server")'
ask_by "${session[@]}" permcheck mic --through any
says "either way" 'status("microphone") == "authorized" and exits(0)'
# PipeWire closes a microphone that nobody uses after some seconds.
for _ in {1..40}; do fuser -s /dev/snd/pcmC*c || break; sleep 0.5; done
ask_by "${session[@]}" permcheck camera mic
says "the nodes give access, so nobody is asked" 'status("microphone") == "authorized" and not report("microphone").alternatives and not report("camera").alternatives'

section "where /dev/snd is not there"
private=(systemd-run -q --wait --pipe --collect -p User=tester -p PrivateDevices=yes -p Environment=XDG_RUNTIME_DIR=$run)
check "recording works" "${private[@]}" bash -c "$hears"
ask_by "${private[@]}" permcheck mic camera
says "the nodes are not there, PipeWire's microphone is" "status('microphone') == 'unavailable' and $(way microphone status) == 'authorized'"
says "nor the camera's, PipeWire's camera is" "status('camera') == 'unavailable' and $(way camera status) == 'authorized' and 'vivid' in $(way camera label)"
ask_by "${private[@]}" permcheck mic --through any
says "either way" 'status("microphone") == "authorized" and exits(0)'

section "where /dev/snd is refused"
check "recording works" "${session[@]}" confine landlock bash -c "$hears"
ask_by "${session[@]}" confine landlock permcheck mic
says "the nodes refuse, PipeWire's microphone is there" "status('microphone') == 'restricted' and $(way microphone status) == 'authorized'"

section "nobody else is told, and root does not ask"
ask mic --through server --user tester
says "root, of tester" 'status("microphone") == "notDetermined" and "only tester can ask" in evidence("microphone", "media-server")'
ask_by env XDG_RUNTIME_DIR=$run permcheck mic --through server
says "root, in the environment of tester" 'status("microphone") == "notDetermined" and "root does not connect" in evidence("microphone", "media-server")'
ask member mic --through server
says "member has no server" 'status("microphone") == "unavailable" and exits(3)'
ask_by as member env XDG_RUNTIME_DIR=$run permcheck mic --through server
says "member, in the environment of tester" 'status("microphone") in ("unavailable", "notDetermined")'

section "the only substream is PipeWire's"
"${session[@]}" bash -c 'timeout 120 parec --raw >/dev/null 2>&1 & sleep 5'
check "pipewire has the microphone open" bash -c 'fuser -v /dev/snd/pcmC*c 2>&1 | grep pipewire'
check "another program records all the same" "${session[@]}" bash -c "$hears"
refuse "but not by the node" "${session[@]}" probe /dev/snd/pcmC0D0c
ask_by "${session[@]}" permcheck mic
says "the node is busy, PipeWire's microphone is there" "status('microphone') == 'restricted' and has('microphone', 'busy') and $(way microphone status) == 'authorized'"
"${session[@]}" env LC_ALL=C.UTF-8 permcheck mic --color never >"$lab_tmp/text"
check "it is not advised to end PipeWire" grep -q 'use it through that server' "$lab_tmp/text"
printed "PipeWire offers 'Built-in" cat "$lab_tmp/text"

section "where PipeWire may not open /dev/snd either"
"${session[@]}" pkill parec
setfacl -b /dev/snd/*
chmod 600 /dev/snd/*
for _ in {1..40}; do
    "${session[@]}" pactl list short sources | grep -q alsa_input || break
    sleep 0.5
done
refuse "PipeWire gives up what it may not open" "${session[@]}" bash -c 'pactl list short sources | grep alsa_input'
ask_by "${session[@]}" permcheck mic
says "and permcheck says so, whatever could be recorded" "status('microphone') == 'denied' and $(way microphone status) == 'unavailable'"

section "PipeWire is stopped"
"${session[@]}" bash -c 'systemctl --user stop pipewire-pulse.socket pipewire.socket pipewire-pulse pipewire wireplumber'
ask_by "${session[@]}" permcheck mic --through server
says "there is no server" 'status("microphone") in ("unavailable", "notDetermined") and not exits(0)'
