# boot: full
# packages: yes
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# The Debian packages with what a container does not have: systemd and its timer, polkit, and a seat.
camera=/dev/video0

seat() { lab-seat "$@"; }
export -f seat
entry() { getfacl -cpn $camera | grep -q "^user:$(id -u "$1"):"; }
export -f entry
export camera
rm -f /usr/local/bin/permcheck /usr/local/libexec/permcheck-helper
hash -r
mkdir -p /etc/polkit-1/rules.d
lab-seat true

section "installed, an earlier version"
check "dpkg installs both" dpkg -i packages/old/permcheck_*.deb packages/old/permcheck-helper_*.deb
check "the timer runs" systemctl is-active permcheck-expire.timer
check "and is there for every user" systemctl --global is-enabled permcheck-expire.timer
check "the unit runs the packaged program" bash -c 'systemctl cat permcheck-expire.service | grep -q "^ExecStart=/usr/bin/permcheck "'
for action in grant revoke; do
    check "polkit knows $action, of the packaged helper" bash -c "pkaction --action-id org.permissionkit.permcheck.$action --verbose | grep -q '/usr/libexec/permcheck-helper'"
done

section "the seat, by polkit"
printf 'polkit.addRule(function(action, subject) {\n  if (action.id.indexOf("org.permissionkit.permcheck.") == 0 && subject.active && subject.local)\n    return polkit.Result.YES;\n});\n' >/etc/polkit-1/rules.d/10-lab.rules
systemctl restart polkit
setfacl -x u:tester $camera
refuse "tester is refused without his entry" seat probe $camera
check "pkexec gives it" seat permcheck request camera --yes --via pkexec
check "and it is real" seat probe $camera

section "upgraded with open leases"
mkdir -m 700 /root/album
echo picture >/root/album/a.jpg
rm -rf /srv/album; mv /root/album /srv/album
permcheck request /srv/album --need rx --user other --for 1s --yes >"$lab_tmp/given"
check "a grant for a time" grep -q 'ends by itself' "$lab_tmp/given"
check "dpkg installs the new version" dpkg -i packages/new/permcheck_*.deb packages/new/permcheck-helper_*.deb
check "the timer still runs" systemctl is-active permcheck-expire.timer
check "tester still has the camera" seat probe $camera
for _ in {1..150}; do as other ls /srv/album >/dev/null 2>&1 || break; sleep 1; done
refuse "the timer ended the grant" as other ls /srv/album
check "tester's has no end" entry tester

section "purged"
permcheck request camera --user other --yes >/dev/null
check "another lease is open" entry other
check "dpkg purges both" dpkg --purge permcheck-helper permcheck
refuse "the leases ended" entry other
refuse "also tester's" entry tester
check "no unit is left" bash -c '! systemctl cat permcheck-expire.timer && ! ls /lib/systemd/*/permcheck* /etc/systemd/*/timers.target.wants/permcheck* 2>/dev/null'
check "no file is left" bash -c '! ls -d /usr/bin/permcheck /usr/libexec/permcheck* /usr/share/polkit-1/actions/*permcheck* /var/lib/permcheck /var/lib/systemd/timers/*permcheck* /var/lib/systemd/deb-systemd-*/*permcheck* 2>/dev/null'
rm -f /etc/polkit-1/rules.d/10-lab.rules
install -m 755 permcheck /usr/local/bin/
install -D -m 755 permcheck-helper /usr/local/libexec/permcheck-helper
udevadm trigger --action=change $camera
settle
