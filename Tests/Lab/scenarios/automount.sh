# boot: full
# image: files
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Automounts, by systemd and by autofs: looking never mounts them, and says what they are.
truncate -s 16M "$lab_tmp/disk"
mke2fs -q -F -t ext4 "$lab_tmp/disk"
mount -o loop "$lab_tmp/disk" /mnt
mkdir /mnt/Pictures
chown tester: /mnt /mnt/Pictures
chmod 700 /mnt/Pictures
chmod 755 /mnt
umount /mnt
mkdir -p /srv/auto /srv/direct
device=$(losetup -f --show "$lab_tmp/disk")
printf '[Mount]\nWhat=%s\nWhere=/srv/auto\nType=ext4\n' "$device" >/run/systemd/system/srv-auto.mount
printf '[Automount]\nWhere=/srv/auto\n' >/run/systemd/system/srv-auto.automount
systemctl daemon-reload
systemctl start srv-auto.automount
modprobe autofs4
printf '/auto /etc/auto.pics --timeout=60\n/- /etc/auto.direct --timeout=60\n' >/etc/auto.master
echo "pics -fstype=ext4 :$device" >/etc/auto.pics
echo "/srv/direct -fstype=ext4 :$device" >/etc/auto.direct
mkdir -p /auto
systemctl restart autofs
sleep 1
is_mounted() { grep -q "^[^-]* $1 .* - ext4" /proc/self/mountinfo; }
rest() {                    # unmounts what a look or a try has mounted
    # Without the disk on it, umount would take the automount itself away.
    for place in /auto/pics /srv/direct; do ! is_mounted $place || umount $place; done
    systemctl stop srv-auto.mount 2>/dev/null
    systemctl is-active -q srv-auto.automount || systemctl start srv-auto.automount
}

for point in /srv/auto /srv/direct /auto/pics; do
    section "$point"
    for question in "tester explain $point/Pictures" "explain $point/Pictures --user tester" \
        "tester photos=$point/Pictures" "photos=$point/Pictures --user tester" "photos=$point --user other" \
        "tester photos=$point --probe access" "tester photos=$point/Pictures --probe none"; do
        rest
        refuse "not mounted before $question" is_mounted $point
        # shellcheck disable=SC2086
        ask $question
        refuse "not mounted by $question" is_mounted $point
        says "$question" "answer.reports[0].status == 'notDetermined' and has(answer.reports[0].accessor, 'automount', 'proven') and exits(2) and '$point' in evidence(answer.reports[0].accessor, 'automount')"
    done
    ls $point/Pictures >/dev/null
    check "used, it is mounted" is_mounted $point
    honest "mounted: $point" $point/Pictures tester other
    mkdir $point/random
    at_random "mounted: $point" $point/random $point/random
    rm -r $point/random
    rest
done
systemctl stop srv-auto.automount
systemctl stop autofs
losetup -d "$device"
