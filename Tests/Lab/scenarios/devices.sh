# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Which nodes are cameras and microphones, as drivers come and go.

# nodes_that_capture: the video nodes whose driver says that they capture video.
nodes_that_capture() {
    local node
    for node in /dev/video*; do
        v4l2-ctl -d "$node" -D 2>/dev/null | sed -n '/Device Caps/,$p' | grep -qx '[[:space:]]*Video Capture' &&
            echo "$node"
    done
}
count_is() {                # count_is N PATTERN...: N such nodes exist
    local want=$1 found=0 node
    shift
    for node; do [ ! -e "$node" ] || { found=$((found + 1)); ls -l "$node"; }; done
    [ "$found" = "$want" ]
}
captures_are() {            # captures_are NODE...: these nodes and no other
    echo "capture: $(nodes_that_capture | xargs)"
    [ "$(nodes_that_capture | xargs)" = "$*" ]
}

section "one camera, four nodes, beside radio, VBI, SDR and touch"
drivers vivid node_types=0xe1d3d
ls -C /dev/video* /dev/vbi* /dev/radio* /dev/swradio* /dev/v4l-touch*
check "vivid makes four /dev/video*" count_is 4 /dev/video*
check "one of the four captures video" captures_are /dev/video0
check "that one gives a frame" captures /dev/video0
refuse "the others do not: /dev/video1" captures /dev/video1
refuse "the others do not: /dev/video2" captures /dev/video2
refuse "the others do not: /dev/video3" captures /dev/video3
ask camera
says "one camera, and it is the capture node" 'paths("camera") == ["/dev/video0"] and status("camera") == "authorized" and exits(0)'
says "the camera bears its name" '"vivid" in resource("/dev/video0").label'
ask tester camera
says "a user without access sees the same camera" 'paths("camera") == ["/dev/video0"] and status("camera") == "denied" and exits(1)'
says "and its name" '"vivid" in resource("/dev/video0").label'

section "a named node is of its kind"
for node in /dev/video1 /dev/video2 /dev/video3 /dev/vbi0 /dev/radio0 /dev/swradio0 /dev/null /dev/snd/pcmC0D0c; do
    # A software radio gives samples.
    [ $node = /dev/swradio0 ] || refuse "$node gives no frame" captures "$node"
    for more in "" "--user member" "--probe none"; do
        # shellcheck disable=SC2086
        ask camera=$node $more
        says "$node is no camera ($more)" 'status("camera") == "unavailable" and has("camera", "no-device") and exits(3)'
    done
done
ask camera=/dev/video1
says "a video output is called so" '"a video output, not a camera" in evidence("camera", "no-device")'
for node in /dev/snd/pcmC0D0p /dev/snd/controlC0 /dev/snd/timer /dev/video0 /dev/null; do
    ask mic=$node
    says "$node is no microphone" 'status("microphone") == "unavailable" and has("microphone", "no-device") and exits(3)'
done
mknod -m 660 /srv/cam c 81 0
chgrp video /srv/cam
ln -s /srv/cam /srv/webcam
for node in /srv/cam /srv/webcam /dev/v4l/by-path/*index0; do
    check "$node gives a frame" captures "$node"
    ask member camera="$node"
    says "$node is the camera" 'status("camera") == "authorized" and exits(0)'
done
rm /srv/cam /srv/webcam

section "a named PCM and the control node of its card"
records_by_name() { as "$1" arecord -q -D hw:0,0 -d 1 -f S16_LE -r 8000 -c 1 -t raw /dev/null; }
check "member records" records_by_name member
ask member mic=/dev/snd/pcmC0D0c
says "member: authorized" 'status("microphone") == "authorized" and paths("microphone") == ["/dev/snd/pcmC0D0c", "/dev/snd/controlC0"]'
chmod 600 /dev/snd/controlC0
refuse "without the control node member does not" records_by_name member
for more in "" "--user member"; do
    # shellcheck disable=SC2086
    ask ${more:+root} ${more:-member} mic=/dev/snd/pcmC0D0c
    says "the control node refuses (${more:-self})" 'status("microphone") == "denied" and exits(1)'
done
mv /dev/snd/controlC0 /dev/snd/hidden
refuse "nor where it is gone" records_by_name member
ask member mic=/dev/snd/pcmC0D0c
says "the control node is gone" 'status("microphone") != "authorized" and not exits(0)'
mv /dev/snd/hidden /dev/snd/controlC0
chmod 660 /dev/snd/controlC0

section "ALSA's default device"
drivers snd-dummy pcm_substreams=1
records_default() { as "$1" timeout 20 arecord -q -d 1 -f S16_LE -r 8000 -c 1 -t raw /dev/null; }
default() { printf '%s\n' "$@" >/etc/asound.conf; }
# asks_default STATUS: what member, and root for member, are told.
asks_default() {
    ask member mic
    says "$default: $1" "status('microphone') == '$1' and not has('microphone', 'busy')"
    ask mic --user member
    says "$default: $1, --user" "status('microphone') == '$1' and not has('microphone', 'busy')"
}
default='plughw'
default 'pcm.!default "plughw:0,0"'
check "$default: member records" records_default member
asks_default authorized
refuse "$default: other does not" records_default other
ask other mic
says "$default: other is refused" 'status("microphone") == "denied"'
default='the card by its name'
default 'pcm.!default { type plug; slave.pcm { type hw; card Dummy } }'
check "$default: member records" records_default member
asks_default authorized
default='an absent card'
default 'pcm.!default { type hw card 7 }'
refuse "$default: member does not record" records_default member
asks_default notDetermined
says "$default is named" '"hw:7" in evidence("microphone", "sound-default") and exits(2)'
default='null'
default 'pcm.!default { type null }'
check "$default: other records" records_default other
ask other mic
says "$default: not determined" 'status("microphone") == "notDetermined" and has("microphone", "sound-default")'
default='dsnoop'
default 'pcm.!default { type plug slave.pcm { type dsnoop ipc_key 4711 ipc_perm 0666 slave { pcm "hw:0,0" format S16_LE rate 8000 channels 1 } } }'
as member timeout 60 arecord -q -d 50 -f S16_LE -r 8000 -c 1 -t raw /dev/null &
sharing=$!
sleep 3
check "$default: a second program records" records_default member
asks_default notDetermined
says "$default: the timer is named" '"/dev/snd/timer" in evidence("microphone", "sound-default")'
pkill -x arecord
wait "$sharing" 2>/dev/null
rm /etc/asound.conf
install -o member -m 644 /dev/null /home/member/.asoundrc
echo 'pcm.!default { type null }' >/home/member/.asoundrc
ask member mic
says "member's own file" 'status("microphone") == "notDetermined"'
ask tester mic
says "is not tester's" 'not has("microphone", "sound-default")'
rm /home/member/.asoundrc
drivers snd-dummy

section "microphones"
drivers snd-aloop
ask mic
says "every capture PCM, with the control node of its card" \
    'set(paths("microphone")) == {"/dev/snd/controlC0", "/dev/snd/controlC1",
     "/dev/snd/pcmC0D0c", "/dev/snd/pcmC1D0c", "/dev/snd/pcmC1D1c"}'
says "no playback PCM" 'not [p for p in paths("microphone") if p.endswith("p")]'
says "a microphone bears its card's name" '"Dummy" in resource("/dev/snd/pcmC0D0c").label and "Loopback" in resource("/dev/snd/pcmC1D0c").label'
says "root may use them" 'status("microphone") == "authorized" and exits(0)'
check "and records with Dummy" records /dev/snd/pcmC0D0c
check "and records with Loopback" records /dev/snd/pcmC1D0c

section "two cameras"
drivers vivid n_devs=2
check "vivid makes eight /dev/video*" count_is 8 /dev/video*
check "two of the eight capture video" captures_are /dev/video0 /dev/video4
ask camera
says "two cameras" 'paths("camera") == ["/dev/video0", "/dev/video4"] and status("camera") == "authorized"'
setfacl -m u:tester:rw /dev/video4
ask tester camera
says "one of two granted is limited, exit 0" \
    'status("camera") == "limited" and resource("/dev/video4").status == "authorized"
     and resource("/dev/video0").status == "denied" and exits(0)'
ask tester camera --all
says "with --all it is exit 1" 'status("camera") == "limited" and exits(1)'
ask tester camera=/dev/video4
says "NAME=PATH asks one of them" 'paths("camera") == ["/dev/video4"] and status("camera") == "authorized" and exits(0)'

section "the driver is loaded again"
drivers vivid
setfacl -m u:tester:rw /dev/video0
ask tester camera
says "granted before" 'status("camera") == "authorized" and exits(0)'
drivers vivid
check "the driver's node is a new one, without the entry" bash -c '! getfacl -cp /dev/video0 | grep user:tester'
ask tester camera
says "refused after" 'status("camera") == "denied" and exits(1)'

section "unplugged and plugged in again"
echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind
settle
check "no /dev/video* is left" count_is 0 /dev/video*
ask camera
says "no camera is unavailable, exit 3" 'status("camera") == "unavailable" and has("camera", "no-device") and exits(3)'
ask tester camera
says "for a user, too" 'status("camera") == "unavailable" and exits(3)'
ask tester camera mic
says "denied goes before unavailable" 'status("camera") == "unavailable" and status("microphone") == "denied" and exits(1)'
ask camera=/dev/video0
says "a path that is gone is unavailable" 'status("camera") == "unavailable" and exits(3)'
echo vivid.0 >/sys/bus/platform/drivers/vivid/bind
settle
ask camera
says "back again" 'paths("camera") == ["/dev/video0"] and status("camera") == "authorized" and exits(0)'
check "and capturing" captures /dev/video0

section "nodes and drivers that do not match"
mv /dev/video0 /dev/camera-hidden
ask camera
says "a camera without a node is unavailable" 'status("camera") == "unavailable" and exits(3)'
mv /dev/camera-hidden /dev/video0
mknod -m 666 /dev/video9 c 81 200
refuse "a node without a driver does not open" probe /dev/video9
ask tester camera=/dev/video9
says "a node without a driver is unavailable, no-driver" \
    'status("camera") == "unavailable" and has("camera", "no-driver") and exits(3)'
ask camera
says "it does not hide the camera" \
    'resource("/dev/video0").status == "authorized" and resource("/dev/video9").status == "unavailable" and exits(0)'
rm /dev/video9
drivers vivid node_types=0x100
check "vivid makes an output node alone" count_is 1 /dev/video*
ask camera
says "no node that captures: unavailable, no-capture-node" \
    'status("camera") == "unavailable" and has("camera", "no-capture-node") and exits(3)'

section "no devices at all"
modprobe -r vivid snd-aloop snd-dummy
settle
check "no node is left" count_is 0 /dev/video* /dev/snd/pcm* /dev/snd/control*
ask tester camera mic
says "both are unavailable, exit 3" \
    'status("camera") == "unavailable" and status("microphone") == "unavailable"
     and has("camera", "no-device") and has("microphone", "no-device") and exits(3)'
ask tester camera --skip-unavailable
says "--skip-unavailable is exit 77" 'status("camera") == "unavailable" and exits(77)'
rm -rf /dev/snd
ask tester mic
says "no /dev/snd" 'status("microphone") == "unavailable" and has("microphone", "no-device") and exits(3)'
mkdir -m 755 /dev/snd

modprobe -a vivid snd-aloop snd-dummy
settle
ask camera mic
says "all is there again" 'status("camera") == "authorized" and status("microphone") == "authorized" and exits(0)'
