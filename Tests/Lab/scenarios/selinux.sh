# boot: min
# image: selinux
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# SELinux: a domain that may do everything but use cameras and a secret folder.
mkdir -p /sys/fs/selinux
mountpoint -q /sys/fs/selinux || mount -t selinuxfs selinuxfs /sys/fs/selinux
load_policy -i
restorecon -RF /dev /run /home /lab /usr/local /tmp /srv 2>/dev/null
mkdir -p /srv/pics
echo x >/srv/pics/a.jpg
chown -R member /srv/pics
chcon -R system_u:object_r:lab_secret_t:s0 /srv/pics
setenforce 1
check "SELinux enforces" bash -c '[ "$(getenforce)" = Enforcing ]'
confined=(runcon system_u:system_r:lab_t:s0 setpriv --reuid=member --regid=member --init-groups env HOME=/home/member)
refuse "the policy refuses the camera" "${confined[@]}" probe /dev/video0
check "and not the sound" "${confined[@]}" probe /dev/snd/pcmC0D0c
refuse "and the folder" "${confined[@]}" ls /srv/pics

section "asked by the process itself"
ask_by "${confined[@]}" permcheck camera mic photos=/srv/pics
says "the camera is restricted by a module" 'status("camera") == "restricted" and has("camera", "landlock-or-lsm") and "lab_t" in evidence("camera", "landlock-or-lsm")'
says "the microphone is not" 'status("microphone") == "authorized"'
says "the folder is" 'status("photos") == "restricted" and has("photos", "landlock-or-lsm")'
ask member camera mic
says "outside the domain nothing is refused" 'status("camera") == status("microphone") == "authorized"'

section "asked for the process"
# The SELinux user and the role of a login say nothing: the type decides.
for context in system_u:system_r:lab_t:s0 unconfined_u:system_r:lab_t:s0 unconfined_u:unconfined_r:lab_t:s0; do
    domain=(runcon $context setpriv --reuid=member --regid=member --init-groups env HOME=/home/member)
    refuse "$context: the camera" "${domain[@]}" probe /dev/video0
    refuse "$context: the folder" "${domain[@]}" ls /srv/pics
    "${domain[@]}" sleep 1234 &
    sleep 1
    pid=$(pgrep -n -x sleep)
    for probe in auto enter; do
        ask camera photos=/srv/pics --pid "$pid" --probe $probe
        says "$context, $probe: not authorized" 'status("camera") in ("notDetermined", "restricted") and status("photos") in ("notDetermined", "restricted")'
        says "$context, $probe: it is named" '"lab_t" in evidence("camera", "landlock-or-lsm")'
    done
    kill "$pid"
    ask_by "${domain[@]}" permcheck camera
    says "$context: asked by itself" 'status("camera") == "restricted" and "lab_t" in evidence("camera", "landlock-or-lsm")'
done

section "at random"
INSIDE="runcon system_u:system_r:lab_t:s0" SPOIL="chcon system_u:object_r:lab_secret_t:s0" NO_OTHERS=1 \
    at_random "SELinux" /srv/se-random /srv/se-random
setenforce 0
