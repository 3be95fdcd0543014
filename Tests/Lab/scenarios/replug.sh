# boot: min
# usb: yes
# shellcheck shell=bash
# shellcheck disable=SC2154
# A udev rule is for one device: it holds after a re-plug under another name, and for no second device.
modprobe -a xhci_pci ftdi_sio

port_of() { local f; for f in /sys/bus/usb/devices/*/serial; do [ "$(cat "$f")" != "$1" ] || basename "${f%/serial}"; done; }
# Where the device with a serial number is now.
node_of() { local n; for n in /sys/bus/usb/devices/"$(port_of "$1")":*/ttyUSB*; do [ ! -e "$n" ] || echo "/dev/${n##*/}"; done; }
plugged() { local i; for i in $(seq 100); do [ -c "$(node_of "$1")" ] && settle && return; sleep 0.1; done; return 1; }
unplug() { echo "$1" >/sys/bus/usb/drivers/usb/unbind; }
plug() { echo "$1" >/sys/bus/usb/drivers/usb/bind; }
rules() { cat /etc/udev/rules.d/99-permcheck-*; }
entries() { getfacl -cnp /dev/ttyUSB0 /dev/ttyUSB1 | grep "user:1000:"; }

section "two serial ports"
check "A1 is there" plugged A1
check "B2 is there" plugged B2
first=$(node_of A1) second=$(node_of B2) A1=$(port_of A1) B2=$(port_of B2)
check "they have two names" test "$first" != "$second"
refuse "tester may not use the first" as tester probe "$first"
refuse "nor the second" as tester probe "$second"

section "a rule for one of them"
ask_by permcheck request "serial=$first" --user tester --strategy udev --yes
says "permanent, and by no name" 'exits(0) and not any("by name" in w for w in answer.plans[0].warnings)'
check "the rule knows the serial number" bash -c "$(declare -f rules); rules | grep 'ATTRS{serial}==\"A1\"'"
refuse "and no name" bash -c "$(declare -f rules); rules | grep 'KERNEL==\"ttyUSB0\"'"
check "tester may use the first" as tester probe "$first"
refuse "not the second" as tester probe "$second"

section "plugged in again, in the other order"
unplug "$A1"
unplug "$B2"
plug "$B2"
check "B2 is there again" plugged B2
plug "$A1"
check "A1 is there again" plugged A1
check "the first has the name of the second" test "$(node_of A1) $(node_of B2)" = "$second $first"
check "tester may use it" as tester probe "$second"
refuse "and not what has its name now" as tester probe "$first"
check "permcheck says so" permcheck "serial=$second" --user tester
refuse "and so" permcheck "serial=$first" --user tester

section "revoked under the other name"
check "revoked" permcheck revoke serial --user tester
refuse "there is no rule" rules
refuse "no entry is left" entries
refuse "tester may use neither: $first" as tester probe "$first"
refuse "tester may use neither: $second" as tester probe "$second"
udevadm trigger --action=change "$first" "$second"
settle
refuse "nor after an event" entries
