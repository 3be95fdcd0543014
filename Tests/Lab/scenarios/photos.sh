# boot: min
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Picture folders on file systems with and without ACLs, and read-only ones.

# can FOLDER: what is really possible, by the shell's own open(2).
can() {
    local rights=''
    cd "$1" && : <. && rights='list'
    : >"$1/.lab-$EUID" && rights+='write'
    echo "$rights"
}
export -f can

# judge SITUATION FOLDER USER...: the status, asked by the user and by root, against
# what the user can really do with the folder.
judge() {
    local situation=$1 folder=$2 user truth wanted
    shift 2
    for user; do
        truth=$(as "$user" bash -c "can '$folder'" 2>/dev/null)
        case $truth in
            listwrite) wanted='"authorized",' ;;
            list) wanted='"limited",' ;;
            *) wanted='"denied", "restricted"' ;;
        esac
        ask "$user" photos="$folder"
        says "$situation: asked by $user" "status(\"photos\") in ($wanted)" "really: $user can ${truth:-nothing}"
        ask --user "$user" photos="$folder"
        says "$situation: --user $user" "status(\"photos\") in ($wanted)" "really: $user can ${truth:-nothing}"
    done
}
folder() {                  # folder PATH OWNER MODE
    mkdir -p "$1"
    setfacl -b "$1" 2>/dev/null
    chown "$2:$2" "$1"
    chmod "$3" "$1"
}

mkdir -p /mnt/ext4 /mnt/vfat /mnt/overlay /mnt/bind
truncate -s 16M "$lab_tmp/ext4" "$lab_tmp/vfat"
mke2fs -q -F "$lab_tmp/ext4"
mkfs.vfat "$lab_tmp/vfat" >/dev/null
mount -o loop "$lab_tmp/ext4" /mnt/ext4

section "the folder of the user data base: ~/Pictures"
ask tester photos
says "home: no Pictures folder is unavailable" 'status("photos") == "unavailable" and exits(3)'
folder /home/tester/Pictures tester 700
ask tester photos
says "home: tester's own folder" 'paths("photos") == ["/home/tester/Pictures"] and status("photos") == "authorized" and exits(0)'
ask --user tester photos
says "home: --user tester" 'paths("photos") == ["/home/tester/Pictures"] and status("photos") == "authorized" and exits(0)'
judge "home: tester's own folder" /home/tester/Pictures other root

section "ext4"
pictures=/mnt/ext4/Pictures
folder $pictures other 700
judge "ext4: other's folder" $pictures tester other root
ask tester photos=$pictures
says "ext4: other's folder is denied, and can be requested" \
    'status("photos") == "denied" and report("photos").requestableBy == "root" and has("photos", "other-bits") and exits(1)'
folder $pictures other 755
judge "ext4: other's folder, 0755" $pictures tester
ask tester photos=$pictures
says "ext4: limited is exit 0" 'status("photos") == "limited" and exits(0)'
ask tester photos=$pictures --all
says "ext4: limited with --all is exit 1" 'status("photos") == "limited" and exits(1)'
folder $pictures other 700
setfacl -m u:tester:rwx $pictures
judge "ext4: ACL entry" $pictures tester
chmod g-wx $pictures
judge "ext4: ACL entry, mask r" $pictures tester
ask tester photos=$pictures
says "ext4: the mask is the reason" 'has("photos", "acl-mask")'
folder $pictures tester 700
chmod 700 /mnt/ext4
judge "ext4: parent without search" $pictures tester
ask tester photos=$pictures
says "ext4: the parent is the reason, and decides" \
    'has("photos", "parent-search") and resource("/mnt/ext4/Pictures").decision.component == "/mnt/ext4" and exits(1)'
chmod 755 /mnt/ext4
judge "ext4: parent with search" $pictures tester

section "read-only"
folder $pictures tester 700
folder $pictures/other other 700
mount -o remount,ro /mnt/ext4
judge "read-only: file system" $pictures tester root
ask tester photos=$pictures
says "read-only: limited, read-only-mount, nothing to request" \
    'status("photos") == "limited" and has("photos", "read-only-mount") and exits(0)'
judge "read-only: other's folder" $pictures/other tester
mount -o remount,rw /mnt/ext4
judge "read-only: writable again" $pictures tester
mount --bind /mnt/ext4 /mnt/bind
mount -o remount,bind,ro /mnt/bind
judge "read-only: bind mount" /mnt/bind/Pictures tester root
ask tester photos=/mnt/bind/Pictures
says "read-only: bind mount's reason" 'status("photos") == "limited" and has("photos", "read-only-mount") and exits(0)'
judge "read-only: the same folder beside it" $pictures tester
umount /mnt/bind

section "vfat, where nobody can set an ACL"
mount -o loop,umask=077 "$lab_tmp/vfat" /mnt/vfat
mkdir /mnt/vfat/Pictures
refuse "vfat: setfacl is not supported" setfacl -m u:tester:rwx /mnt/vfat/Pictures
judge "vfat: root's" /mnt/vfat/Pictures tester root
ask tester photos=/mnt/vfat/Pictures
says "vfat: exit 1, and no remedy is an ACL" \
    'exits(1) and all(m.kind != "acl" for m in remedies("photos"))'
says "vfat: the mount option is named" \
    'any(m.kind == "mount" and m.line and "uid=1000,gid=0,umask=077" in m.line for m in remedies("photos"))'
umount /mnt/vfat
mount -o loop,umask=077,uid=1000 "$lab_tmp/vfat" /mnt/vfat
judge "vfat: mounted for tester" /mnt/vfat/Pictures tester other
umount /mnt/vfat
mount -o loop,umask=022 "$lab_tmp/vfat" /mnt/vfat
judge "vfat: mounted to be read" /mnt/vfat/Pictures tester
umount /mnt/vfat
mount -o loop,umask=000,ro "$lab_tmp/vfat" /mnt/vfat
judge "vfat: mounted read-only" /mnt/vfat/Pictures tester root
ask tester photos=/mnt/vfat/Pictures
says "vfat: read-only is the reason" 'has("photos", "read-only-mount") and exits(0)'
umount /mnt/vfat

section "overlay"
base=/mnt/ext4/layers
mkdir -p $base/{lower,upper,work}
chmod 755 $base $base/lower $base/upper
folder $base/lower/Pictures tester 700
folder $base/lower/Private other 700
folder $base/lower/Shared other 700
setfacl -m u:tester:rwx $base/lower/Shared
mount -t overlay -o lowerdir=$base/lower,upperdir=$base/upper,workdir=$base/work overlay /mnt/overlay
judge "overlay: tester's own" /mnt/overlay/Pictures tester
judge "overlay: other's" /mnt/overlay/Private tester root
judge "overlay: an ACL in the layer below" /mnt/overlay/Shared tester
setfacl -b /mnt/overlay/Shared
judge "overlay: the ACL taken away above" /mnt/overlay/Shared tester
check "overlay: it is still there below" bash -c "getfacl -cp $base/lower/Shared | grep user:tester"
umount /mnt/overlay
mkdir $base/empty
mount -t overlay -o lowerdir=$base/lower:$base/empty overlay /mnt/overlay
judge "overlay: nothing to write to" /mnt/overlay/Pictures tester root
ask tester photos=/mnt/overlay/Pictures
says "overlay: read-only is the reason" 'status("photos") == "limited" and has("photos", "read-only-mount") and exits(0)'
umount /mnt/overlay
umount /mnt/ext4

section "no folder"
ask tester photos=/mnt/ext4/Pictures
says "none: a folder that went with its mount is unavailable" 'status("photos") == "unavailable" and exits(3)'
