# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# permcheck request, revoke and run: what is given is real, lasts as long as is said, and goes again.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c control=/dev/snd/controlC0

export -f as
both() { try camera as tester bash -c "captures $camera"; try microphone as tester bash -c "records $pcm"; }
agree_both() { agree "$1: camera" camera; agree "$1: mic" microphone; }
acls() { getfacl -cnp "$camera" "$pcm" "$control"; stat -c '%n %a' "$camera" "$pcm" "$control"; }
same() { diff <(echo "$1") <(echo "$2"); }
nothing_left() { permcheck list --grants --json; [ "$(permcheck list --grants --json)" = '{"grants":[],"schemaVersion":1}' ]; }
rules() { ls /etc/udev/rules.d | grep 99-permcheck; }

section "refused, requested, used, revoked"
before=$(acls)
both
ask tester camera mic
agree_both "before"
ask tester request camera mic --dry-run
says "dry run: the plan, and nothing applied" 'answer.applied is False and len(answer.plans) == 2 and exits(1)'
says "dry run: every node that is needed" \
    'sorted(s.place for p in answer.plans for s in p.steps) == ["/dev/snd/controlC0", "/dev/snd/pcmC0D0c", "/dev/video0"]'
says "dry run: until a udev event, nobody else gets access, root is needed" \
    'all(p.persistence == "until-udev-event" and p.othersAffected == [] and p.needsRoot for p in answer.plans)'
check "dry run: nothing was changed" same "$before" "$(acls)"
check "tester alone may not" bash -c 'as tester permcheck request camera mic --yes --via none; [ $? = 1 ]'
check "tester alone: nothing was changed" same "$before" "$(acls)"
check "nobody is asked where nobody is" bash -c '! sudo permcheck request camera mic --user tester </dev/null'
check "not asked: nothing was changed" same "$before" "$(acls)"
ask_by sudo permcheck request camera mic --user tester --yes
says "root gives it to tester" 'answer.applied is True and status("camera") == "authorized" and status("microphone") == "authorized" and exits(0)'
both
ask tester camera mic
agree_both "granted"
says "granted: by the entry" 'resource("/dev/video0").decision.rule == "acl-user:1000" and exits(0)'
refuse "granted: other stays out of the camera" as other probe $camera
refuse "granted: other stays out of the microphone" as other probe $pcm
check "granted: member is in, as before" as member probe $camera
check "listed" bash -c '[ "$(permcheck list --grants --format plain | wc -l)" = 3 ]'
check "revoked" sudo permcheck revoke --all
check "revoked: all is as before" same "$before" "$(acls)"
both
ask tester camera mic
agree_both "revoked"
check "revoked: nothing is left in the journal" nothing_left

section "the acl strategy lasts until udev sets the node up anew"
ask_by permcheck request camera --user tester --yes
says "granted until a udev event" 'answer.plans[0].persistence == "until-udev-event" and exits(0)'
drivers vivid
try camera as tester bash -c "captures $camera"
ask tester camera
agree "driver loaded again: the grant is gone" camera
says "driver loaded again: denied" 'status("camera") == "denied"'
check "what is gone is revoked without a word of failure" permcheck revoke camera
check "and leaves the journal" nothing_left

section "the udev strategy survives"
fresh=$(acls)
ask_by permcheck request camera mic --user tester --strategy udev --yes
says "udev: permanent" 'all(p.persistence == "permanent" for p in answer.plans) and exits(0)'
check "udev: the rules are there" rules
both
ask tester camera mic
agree_both "udev"
udevadm trigger --action=change "$camera" "$pcm" "$control"
settle
both
ask tester camera mic
agree_both "udev, change event"
says "udev, change event: still authorized" 'exits(0)'
echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind
settle
echo vivid.0 >/sys/bus/platform/drivers/vivid/bind
settle
try camera as tester bash -c "captures $camera"
ask tester camera
agree "udev, plugged in again" camera
says "udev, plugged in again: still authorized" 'exits(0)'
drivers snd-dummy
try microphone as tester bash -c "records $pcm"
ask tester mic
agree "udev, sound driver loaded again" microphone
says "udev, sound driver loaded again: still authorized" 'exits(0)'
refuse "udev: other stays out" as other probe $camera
check "udev: revoked" permcheck revoke --all
refuse "udev: the rules are gone" rules
udevadm trigger --action=change "$camera" "$pcm" "$control"
settle
both
ask tester camera mic
agree_both "udev, revoked"
says "udev, revoked: denied" 'exits(1)'
check "udev, revoked: as udev makes them" same "$fresh" "$(acls)"

section "for as long as a command runs"
before=$(acls)
check "run: v4l2-ctl's own output" bash -c "permcheck run camera -- v4l2-ctl -d $camera --all | grep -q vivid"
check "run: nothing is left in the journal" nothing_left
check "run: refused is 126" as tester bash -c "permcheck run camera -- true; [ \$? = 126 ]"
check "run: all is as before" same "$before" "$(acls)"

section "the group strategy is for the next login"
ask_by permcheck request camera --user tester --strategy group --yes
says "group: the plan says so" 'answer.plans[0].needsNewLogin and any("video" in w for w in answer.plans[0].warnings) and exits(0)'
check "group: tester is in video" bash -c 'id -nG tester | grep -qw video'
try camera as tester bash -c "captures $camera"
ask tester camera
agree "group: a new login captures" camera
check "group: revoked" permcheck revoke camera
refuse "group: tester is out of video" bash -c 'id -nG tester | grep -qw video'

section "two requests at once"
before=$(acls)
permcheck request camera --user tester --yes >"$lab_tmp/one" 2>&1 &
one=$!
permcheck request camera --user other --yes >"$lab_tmp/two" 2>&1 &
wait $one $!
check "both: tester is in" as tester probe $camera
check "both: other is in" as other probe $camera
check "both: one journal" bash -c '[ "$(permcheck list --grants --format plain | wc -l)" = 2 ]'
check "both: tester's is revoked" permcheck revoke camera --user tester
refuse "both: tester is out" as tester probe $camera
check "both: other is still in" as other probe $camera
check "both: other's is revoked" permcheck revoke camera --user other
check "both: all is as before" same "$before" "$(acls)"
