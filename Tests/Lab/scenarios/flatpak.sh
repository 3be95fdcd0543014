# boot: full
# image: boxes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Flatpak, with a runtime and an application made here: what it hides, and what gives it.
home=/home/tester place=$home/flatpak
mkdir -p $place/runtime/usr/{bin,sbin,etc,share,lib/x86_64-linux-gnu,lib64} $place/runtime/files $place/app/files/bin $place/app/export
cp /bin/busybox /usr/bin/bash $place/runtime/usr/bin/
for tool in sh ls cat sleep env rm; do ln -s busybox $place/runtime/usr/bin/$tool; done
cp /sbin/ldconfig $place/runtime/usr/sbin/
ln -s ../sbin/ldconfig $place/runtime/usr/bin/ldconfig
for library in $(ldd /usr/local/bin/probe /bin/bash | grep -o '/lib[^ ]*' | sort -u); do
    [ -e "$library" ] && cp -L "$library" "$place/runtime/usr$library"
done
id='runtime=org.lab.Platform/x86_64/1\nsdk=org.lab.Platform/x86_64/1\n'
printf "[Runtime]\nname=org.lab.Platform\n$id" >$place/runtime/metadata
printf "[Application]\nname=org.lab.App\n${id}command=permcheck\n" >$place/app/metadata
cp /usr/local/bin/{permcheck,probe,attempt} $place/app/files/bin/
mkdir -p $home/.config $home/Pictures
printf 'XDG_PICTURES_DIR="$HOME/Pictures"\n' >$home/.config/user-dirs.dirs
echo x >$home/Pictures/a.jpg
chown -R tester: $home
flatpak() {
    lab-seat env --chdir=$home XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus \
        HOME=$home timeout 90 flatpak "$@"
}
flatpak build-export --runtime $place/repo $place/runtime 1 >/dev/null 2>&1
flatpak build-export $place/repo $place/app 1 >/dev/null 2>&1
flatpak remote-add --user --no-gpg-verify lab $place/repo
check "the application is installed" flatpak install --user -y --noninteractive lab org.lab.App//1

# inside OPTION... -- COMMAND...: runs a command in the sandbox.
inside() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    flatpak run "${options[@]}" --command="$1" org.lab.App "${@:2}"
}

section "the folder"
ask_by inside -- permcheck photos
says "not given: the sandbox is named" 'status("photos") == "unavailable" and has("photos", "sandbox") and not has("photos", "container")'
says "not given: --filesystem" 'any("--filesystem=/home/tester/Pictures" in m.command for m in remedies("photos"))'
ask_by inside --filesystem=xdg-pictures:ro -- permcheck photos
says "read-only: limited, and the sandbox gives more" 'status("photos") == "limited" and [m.command[0] for m in remedies("photos")] == ["flatpak"]'
ask_by inside --filesystem=xdg-pictures -- permcheck photos --probe write
says "given: authorized" 'status("photos") == "authorized"'
flatpak override --user --filesystem=/home/tester/Pictures org.lab.App
ask_by inside -- permcheck photos --probe write
says "the remedy helps" 'status("photos") == "authorized"'
flatpak override --user --reset org.lab.App

section "at random"
INSIDE="lab-seat env --chdir=$home XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus HOME=$home flatpak run --filesystem=$home/random --filesystem=$home/random/d1:ro --command=env org.lab.App" \
    NO_USERS=1 at_random "Flatpak" $home/random $home/random

section "the camera"
refuse "not given" inside -- probe /dev/video0
ask_by inside -- permcheck camera
says "not given: the sandbox is named" 'status("camera") == "unavailable" and has("camera", "sandbox") and not has("camera", "container")'
check "given" inside --device=all -- probe /dev/video0
ask_by inside --device=all -- permcheck explain /dev/video0
says "given: authorized, and nothing about ssh" 'answer.reports[0].status == "authorized" and "ssh" not in json.dumps(answer.reports) and "manual" not in json.dumps(answer.reports)'

section "asked for the process"
inside -- sleep 1234 >/dev/null 2>&1 &
for _ in {1..100}; do sleep 0.2; pid=$(pgrep -n -u tester -x sleep) && break; done
ask camera=/dev/video0 photos=$home/Pictures --pid "$pid"
says "--pid: not authorized, and the sandbox is named" 'has("camera", "sandbox") and has("photos", "sandbox") and not exits(0)'
kill "$pid"
