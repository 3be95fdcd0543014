# boot: full
# alone: yes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# What the next login of a user gets is more than the user data base says: groups of pam_group, and the
# device rules of systemd for slices and sessions.
# systemd leaves the device programs of slices that live on.
camera=/dev/video0
# A login shell does not inherit our functions.
truth="$(declare -f captures records);"
# pam_group wants a terminal.
login() { python3 -c "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)" su - "$1" -s /bin/bash -c "PATH=$PATH; $2" </dev/null; }

section "nothing special"
try camera login member "$truth captures $camera"
ask member camera
agree "member" camera
ask camera --user member
says "--user member" 'status("camera") == "authorized" and exits(0)'
ask camera --user other
says "--user other" 'status("camera") == "denied" and exits(1)'

section "pam_group gives a group to some logins"
cp /etc/security/group.conf "$lab_tmp/group.conf"
cp /etc/pam.d/su "$lab_tmp/su"
sed -i '1i auth optional pam_group.so' /etc/pam.d/su
printf 'su*;*;other;Al0000-2400;video,audio\n' >>/etc/security/group.conf
check "a login of other is in group video" login other 'id -nG | grep -qw video'
check "and opens the camera" login other "probe $camera"
for who in other tester; do
    ask camera --user $who
    case $who in
        other) says "--user other: not determined" 'status("camera") == "notDetermined" and has("camera", "login-policy") and exits(2)' ;;
        *) says "--user $who: nothing is different" 'not has("camera", "login-policy")' ;;
    esac
done
ask_by as other permcheck camera
says "other, without a login" 'status("camera") == "denied" and not has("camera", "login-policy")'
cp "$lab_tmp/su" /etc/pam.d/su
sed -i '/pam_group.so/d' /etc/pam.d/*
ask camera --user other
says "no service has pam_group" 'status("camera") == "denied" and exits(1)'
cp "$lab_tmp/group.conf" /etc/security/group.conf

section "the device policy of slices and sessions"
for unit in user-.slice user-1001.slice user.slice session-.scope; do
    kind=${unit##*.}
    mkdir -p "/run/systemd/system/$unit.d"
    printf '[%s]\nDevicePolicy=closed\n' "${kind^}" >"/run/systemd/system/$unit.d/lab.conf"
    systemctl daemon-reload
    loginctl terminate-user member 2>/dev/null
    systemctl stop user-1001.slice 2>/dev/null
    sleep 1
    # Whether this login opens it depends on when systemd made the slice; if it does not, nothing may say so.
    if login member "probe $camera" >/dev/null 2>&1; then echo "$unit: the login opens the camera"; fi
    ask camera --user member
    says "$unit: not determined" 'status("camera") == "notDetermined" and has("camera", "login-policy") and "DevicePolicy=closed" in evidence("camera", "login-policy") and exits(2)'
    ask explain /dev/null --user member
    says "$unit: /dev/null" 'exits(0)'
    rm -r "/run/systemd/system/$unit.d"
    systemctl daemon-reload
done
mkdir -p /run/systemd/system/user-.slice.d
printf '[Slice]\nDevicePolicy=closed\n' >/run/systemd/system/user-.slice.d/lab.conf
systemctl daemon-reload
refuse "user-.slice: a login is refused the camera" login member "probe $camera"
ask camera --user member
says "user-.slice: and --user does not say otherwise" 'status("camera") != "authorized"'
rm -r /run/systemd/system/user-.slice.d
systemctl daemon-reload
ask camera --user member
says "afterwards" 'status("camera") == "authorized" and exits(0)'
