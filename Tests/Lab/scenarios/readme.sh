# boot: min
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# What README.md and the guide print is what permcheck prints.
camera=/dev/video0 pcm=/dev/snd/pcmC0D0c

setfacl -b "$camera" "$pcm" /dev/snd/controlC0
chown root:video "$camera"
chown root:audio "$pcm" /dev/snd/controlC0
chmod 660 "$camera" "$pcm" /dev/snd/controlC0
as tester mkdir -p /home/tester/Pictures
chmod 755 /home/tester/Pictures

section "the first answer"
check "tester has just received access" permcheck request camera --user tester --yes
printed "/home/tester/Pictures" as tester permcheck camera mic photos
check "as in the picture" diff picture.txt <(as tester permcheck camera mic photos --color always)
permcheck revoke --all -q

section "a path"
mkdir -p /srv/photos/2024
echo x >/srv/photos/2024/a.jpg
chgrp games /srv/photos
chmod 750 /srv/photos
printed "not reached" permcheck explain --user www-data /srv/photos/2024/a.jpg

section "a request, and what is expected then"
printed "(--dry-run)" permcheck request /srv/photos --need rx --user www-data --dry-run
printed "revoke --request" bash -c "SUDO_USER=tester permcheck request /srv/photos --need rx --user www-data --yes 2>/dev/null"
block toml "the web server reads the photos" >access.toml
printed "2 of 2 hold" permcheck verify access.toml
permcheck revoke --all -q
check "and then the web server does not" bash -c "! permcheck verify access.toml -q"
rm -r /srv/photos

section "a gate"
printed "so arecord was not run" as tester permcheck run mic -- arecord -d 5 test.wav

section "devices in use, and an old session"
drivers snd-dummy pcm_substreams=1
drivers vivid
member=(setpriv --reuid=member --regid=member --init-groups)
"${member[@]}" arecord -q -D hw:0,0 -f S16_LE -r 8000 -c 1 -t raw /dev/null &
holders=$!
v4l2-ctl -d "$camera" --stream-mmap=2 --stream-count=0 --stream-to=/dev/null 2>"$lab_tmp/frames" &
holders+=" $!"
for _ in {1..100}; do
    grep -qs 'state: RUNNING' /proc/asound/card0/pcm0c/sub0/status && [ -s "$lab_tmp/frames" ] && break
    sleep 0.1
done
printed "arecord (pid" "${member[@]}" permcheck camera mic
# shellcheck disable=SC2086
kill $holders
# shellcheck disable=SC2086
wait $holders 2>/dev/null
printed "newgrp video" setpriv --reuid=member --regid=member --clear-groups bash -c 'permcheck camera; exit'

section "a camera comes and goes"
numbers=$(tr : ' ' </sys/class/video4linux/video0/dev)
rm "$camera"
changes=$lab_tmp/changes
# step COMMAND: runs it and waits for the line that it causes
step() {
    local lines
    lines=$(wc -l <"$changes")
    "$@"
    for _ in {1..100}; do
        [ "$(wc -l <"$changes")" -gt "$lines" ] && return
        sleep 0.1
    done
}
watching() {
    : >"$changes"
    step eval "permcheck watch camera --user www-data $* > $changes & watcher=\$!"
}
watching
step eval "mknod -m 600 $camera c $numbers"
# At once, as udev does it.
step python3 -c "import os; os.chown('$camera', 0, $(getent group video | cut -d: -f3)); os.chmod('$camera', 0o660)"
step setfacl -m u:www-data:rw "$camera"
step mount -o remount,nodev /dev
step mount -o remount,dev /dev
step rm "$camera"
kill "$watcher"
wait "$watcher"
printed "node added: $camera" cat "$changes"
eval "mknod -m 600 $camera c $numbers"
watching --json
step setfacl -m u:www-data:rw "$camera"
kill "$watcher"
wait "$watcher"
printed '"cause":"acl"' tail -n 1 "$changes"
