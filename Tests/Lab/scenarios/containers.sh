# boot: full
# image: boxes
# shellcheck shell=bash
# In containers of Podman and runc: the fix is for whoever starts them, and works as printed.
container_image /root.tar
cp -a /root/image /srv/image
chmod 755 /srv/image /srv/image/run
mkdir -p /srv/image/photos
printf '[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n[containers]\nnetns="none"\nlog_driver="none"\ncgroups="disabled"\n' \
    >/etc/containers/containers.conf
status=0
python3 containers.py /srv/image /dev/video0 44 camera 2>&1 || status=$?
check "every fix works for whoever starts the container" [ $status = 0 ]
rm -rf /srv/image

section "a socket that its unit makes anew"
systemctl start docker.socket
connects() { as tester python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/run/docker.sock")'; }
refuse "18: tester may not connect" connects
ask docker --user tester
says "18: it lasts until the unit starts again" 'all(m.persistence == "until-service-restart" for m in remedies("docker") if m.kind == "acl")'
check "18: request says so" bash -c 'permcheck request docker --user tester --dry-run | grep "until the service starts again"'
check "18: tester is given it" permcheck request docker --user tester --yes
check "18: and connects" connects
systemctl restart docker.socket
refuse "18: the new socket does not have it" connects
permcheck revoke docker --user tester >/dev/null 2>&1
systemctl stop docker.socket docker.service

section "udev does not run, as in WSL"
systemctl stop systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udevd.service
setfacl -b /dev/video0
chown root:root /dev/video0
chmod 600 /dev/video0
refuse "24: member may not open it" as member probe /dev/video0
ask member camera=/dev/video0
says "24: udev is named" 'status("camera") == "denied" and has("camera", "no-udev")'
printf '%s\n' "$(as member permcheck camera=/dev/video0)" | sed -n '/systemctl/p; /udevadm/p'
told() { as member permcheck camera=/dev/video0 --json | python3 -c '
import json, sys
[m] = [m for m in json.load(sys.stdin)["reports"][0]["resources"][0]["remedies"] if m["kind"] == "service"]
print(m["shell"].removeprefix("sudo "), "&&", m["after"].removeprefix("sudo "))'; }
check "24: the start of udev works as printed" bash -c "$(told)"
check "24: and gives the node its group" as member probe /dev/video0
ask member camera=/dev/video0
says "24: and permcheck says so" 'status("camera") == "authorized" and not has("camera", "no-udev")'

stop_udev() {
  systemctl stop systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udevd.service
  rm -f /run/udev/control
  chown root:root /dev/video0
  chmod 600 /dev/video0
}
stop_udev
# Without systemd: its folder is hidden from permcheck.
told() { unshare -m sh -c 'mount -t tmpfs none /run/systemd; exec "$@"' sh \
  setpriv --reuid member --regid member --init-groups \
  permcheck camera=/dev/video0 --json | python3 -c '
import json, sys
[m] = [m for m in json.load(sys.stdin)["reports"][0]["resources"][0]["remedies"] if m["kind"] == "service"]
print(m["shell"].removeprefix("sudo "), "&&", m["after"].removeprefix("sudo "))'; }
printf '%s\n' "$(told)"
check "24: the start of udev without systemd works as printed" bash -c "$(told)"
check "24: and gives the node its group again" as member probe /dev/video0
udevadm control --exit
stop_udev
systemctl start systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udevd.service
udevadm trigger --settle --action=add /dev/video0
settle
