# boot: full
# image: boxes
# gate: no
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# Docker: told by what it leaves, with flags that help.
container_image /root.tar
mkdir -p /srv/pics
chown tester: /srv/pics
chmod 750 /srv/pics
dockerd --iptables=false --bridge=none --storage-driver=overlay2 >"$lab_tmp/dockerd" 2>&1 &
daemon=$!
for _ in {1..150}; do docker info >/dev/null 2>&1 && break; sleep 0.5; done
check "the image is there" docker import /root.tar lab/image

# box OPTION... -- COMMAND...: runs a command in a container.
box() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    timeout 90 docker run --rm --network none "${options[@]}" lab/image "$@"
}
ask_by box -- permcheck camera
says "no device: the container is named" 'status("camera") == "unavailable" and has("camera", "container") and any("--device=/dev/video0" in m.command for m in remedies("camera"))'
check "given, it opens" box --device /dev/video0 -- probe /dev/video0
ask_by box --device /dev/video0 -- permcheck camera
says "given: authorized" 'status("camera") == "authorized"'
refuse "a bound node is refused by the cgroup" box --volume /dev/video0:/dev/video0 -- probe /dev/video0
ask_by box --volume /dev/video0:/dev/video0 -- permcheck camera
says "a bound node: the cgroup" 'status("camera") == "restricted" and has("camera", "device-cgroup")'
ask_by box --user 1000 --device /dev/video0 -- permcheck camera
says "a user in it: --group-add=44" 'status("camera") == "denied" and any("--group-add=44" in m.command for m in remedies("camera"))'
check "which helps" box --user 1000 --group-add 44 --device /dev/video0 -- probe /dev/video0
ask_by box --user 1000 --volume /srv/pics:/pics:ro -- permcheck photos=/pics
says "a folder given read-only: a flag, no remount" 'status("photos") == "limited" and [m.command[0] for m in remedies("photos")] == ["docker"]'
ask_by box --user 1000 --volume /srv/pics:/pics -- permcheck photos=/pics --probe write
says "which helps" 'status("photos") == "authorized"'
docker run -d --rm --network none --name one --volume /dev/video0:/dev/video0 lab/image sleep 1234 >/dev/null
ask camera=/dev/video0 --pid "$(docker inspect -f '{{.State.Pid}}' one)"
says "--pid: not authorized" 'status("camera") == "notDetermined" and has("camera", "device-cgroup")'
docker rm -f one >/dev/null
kill $daemon
