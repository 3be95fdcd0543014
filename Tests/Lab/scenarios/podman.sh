# boot: full
# image: boxes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Podman, rootless and by root: told by what it leaves, with flags that help.
container_image /root.tar
printf '[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n[containers]\nnetns="none"\nlog_driver="none"\ncgroups="disabled"\n' \
    >/etc/containers/containers.conf
grep -q ^member: /etc/subuid || echo member:200000:65536 | tee -a /etc/subuid >>/etc/subgid
mkdir -p /srv/pics
chown member: /srv/pics
chmod 750 /srv/pics
chmod 666 /dev/fuse
loginctl enable-linger member
mkdir -p /run/user/1001
chown member: /run/user/1001
# box OPTION... -- COMMAND...: runs a command in a container of $engine.
engine=(podman)
box() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    timeout 90 env --chdir=/tmp "${engine[@]}" run --rm "${options[@]}" localhost/lab/image "$@"
}
says_no_ssh='"ssh" not in json.dumps(answer.reports) and "on this machine" not in json.dumps(answer.reports)'

section "rootless, member is in the group video"
engine=(env XDG_RUNTIME_DIR=/run/user/1001 HOME=/home/member setpriv --reuid=member --regid=member --init-groups podman)
check "the image is there" env --chdir=/tmp "${engine[@]}" import -q /root.tar lab/image
ask_by box -- permcheck camera
says "no device: the container is named" 'status("camera") == "unavailable" and has("camera", "container")'
refuse "the device without groups" box --device /dev/video0 -- probe /dev/video0
ask_by box --device /dev/video0 -- permcheck camera
says "the device without groups: keep-groups" 'status("camera") != "authorized" and any("--group-add=keep-groups" in m.command for m in remedies("camera"))'
check "with keep-groups it opens" box --device /dev/video0 --group-add keep-groups -- probe /dev/video0
ask_by box --device /dev/video0 --group-add keep-groups -- permcheck camera
says "and permcheck says so" 'status("camera") == "authorized"'
ask_by box --volume /srv/pics:/pics -- permcheck photos=/pics
says "a folder" 'status("photos") == "authorized"'
ask_by box --volume /srv/pics:/pics -- permcheck explain /pics --need rwx
says "a folder: nothing about other machines or ssh" "answer.reports[0].status == 'authorized' and $says_no_ssh"
ask_by box --volume /srv/pics:/pics:ro -- permcheck photos=/pics
says "a folder given read-only: a flag, no remount" 'status("photos") == "limited" and [m.command[0] for m in remedies("photos")] == ["podman"]'

mkdir -p /srv/pod-random
INSIDE="timeout 200 env --chdir=/tmp ${engine[*]} run --rm -v /srv/pod-random:/random localhost/lab/image" \
    at_random "rootless Podman" /srv/pod-random /random

section "rootless, asked for the process"
env --chdir=/tmp "${engine[@]}" run --rm -d --name one --device /dev/video0 --group-add keep-groups localhost/lab/image sleep 1234 >/dev/null
pid=$(env --chdir=/tmp "${engine[@]}" inspect -f '{{.State.Pid}}' one)
ask camera=/dev/video0 mic --pid "$pid"
says "--pid: not sure, and the container is named" 'status("camera") != "authorized" and has("microphone", "container") and not exits(0)'
env --chdir=/tmp "${engine[@]}" rm -f -t 0 one >/dev/null

section "by root"
engine=(podman)
check "the image is there, for root" podman import -q /root.tar lab/image
check "root in it" box --device /dev/video0 -- probe /dev/video0
ask_by box --device /dev/video0 -- permcheck explain /dev/video0
says "root in it: nothing about ssh" "answer.reports[0].status == 'authorized' and $says_no_ssh"
refuse "a user in it" box --user 1000 --device /dev/video0 -- probe /dev/video0
ask_by box --user 1000 --device /dev/video0 -- permcheck camera
says "a user in it: --group-add=44, not keep-groups" 'status("camera") == "denied" and any("--group-add=44" in m.command for m in remedies("camera")) and not any("keep-groups" in json.dumps(m) for m in remedies("camera"))'
check "which helps" box --user 1000 --group-add 44 --device /dev/video0 -- probe /dev/video0
podman run --rm -d --name two --user 1000 --device /dev/video0 localhost/lab/image sleep 1234 >/dev/null
ask camera=/dev/video0 --pid "$(podman inspect -f '{{.State.Pid}}' two)"
says "--pid of a user in it: denied by the bits" 'status("camera") == "denied"'
podman rm -f -t 0 two >/dev/null
mkdir -p /srv/random2
INSIDE="timeout 200 podman run --rm -v /srv/random2:/random localhost/lab/image" \
    at_random "Podman" /srv/random2 /random
