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
        says "$context, $probe: the policy refuses the camera" 'status("camera") == "restricted" and has("camera", "landlock-or-lsm", "proven")'
        says "$context, $probe: it is named" '"lab_t" in evidence("camera", "landlock-or-lsm") and "v4l_device_t" in evidence("camera", "landlock-or-lsm")'
        says "$context, $probe: writing in the folder is not authorized" 'status("photos") in ("notDetermined", "restricted")'
        ask mic photos=/srv/pics --need r --pid "$pid" --probe $probe
        says "$context, $probe: the microphone is allowed" 'status("microphone") == "authorized"'
        says "$context, $probe: the folder is refused" 'status("photos") == "restricted" and "lab_secret_t" in evidence("photos", "landlock-or-lsm")'
    done
    ask explain /srv/pics/a.jpg --pid "$pid"
    says "$context: a file that the policy refuses" 'status("path") == "restricted" and exits(1)'
    ask explain /etc/passwd --pid "$pid"
    says "$context: a file that it allows" 'status("path") == "authorized" and exits(0)'
    ask explain /etc/shadow --pid "$pid"
    says "$context: what the bits refuse" 'status("path") == "denied"'
    kill "$pid"
    ask_by "${domain[@]}" permcheck camera
    says "$context: asked by itself" 'status("camera") == "restricted" and "lab_t" in evidence("camera", "landlock-or-lsm")'
done

section "a permissive domain"
free=(runcon system_u:system_r:lab_permissive_t:s0 setpriv --reuid=member --regid=member --init-groups)
check "nothing is refused" "${free[@]}" probe /dev/video0
"${free[@]}" sleep 1234 &
sleep 1
pid=$(pgrep -n -x sleep)
ask camera --pid "$pid"
says "and permcheck says so" 'status("camera") == "authorized" and exits(0)'
kill "$pid"

section "the policy cannot be asked"
"${confined[@]}" sleep 1234 &
sleep 1
pid=$(pgrep -n -x sleep)
chmod 600 /sys/fs/selinux/access
ask member camera --pid "$pid"
says "not determined" 'status("camera") == "notDetermined" and "lab_t" in evidence("camera", "landlock-or-lsm")'
chmod 666 /sys/fs/selinux/access
kill "$pid"

section "at random"
INSIDE="runcon system_u:system_r:lab_t:s0" SPOIL="chcon system_u:object_r:lab_secret_t:s0" NO_OTHERS=1 \
    at_random "SELinux" /srv/se-random /srv/se-random
setenforce 0
