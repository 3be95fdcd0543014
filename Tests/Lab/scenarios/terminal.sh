# boot: full
# devices: none
# shellcheck shell=bash
# shellcheck disable=SC2016
# A command of another user at a terminal: as under sudo with use_pty, and nothing typed into root's. This kernel
# lets everybody type into a terminal (TIOCSTI) and paste into a console (TIOCLINUX).
export LIMIT=120
echo 'Defaults use_pty' >/etc/sudoers.d/lab-pty
mkdir -p /mnt/lab
# play SCENARIO COMMAND...: nothing differs from what a person expects
play() {
    timeout -k 5 600 unshare --mount --pid --fork --kill-child --mount-proc \
        sh -ec 'mount -t tmpfs none /mnt; exec python3 session.py "$@"' sh "$@" >"$lab_tmp/played" 2>&1
    cat "$lab_tmp/played"
    [ "$(wc -l <"$lab_tmp/played")" = 1 ] && grep -q ' looked at$' "$lab_tmp/played"
}
permcheck_as=(permcheck run /etc/passwd --user tester --)

section "as under sudo"
for scenario in keys programs pipes closed; do
    check "sudo: $scenario" play $scenario sudo -u tester --
    check "permcheck: $scenario" play $scenario "${permcheck_as[@]}"
done
check "permcheck: place" play place "${permcheck_as[@]}"

section "attacks"
for scenario in attack-terminal attack-inherited attack-stopped attack-left attack-killed; do
    check "$scenario" play $scenario "${permcheck_as[@]}"
done

section "a console, where getty(8) asks for a name"
cat >"$lab_tmp/paste.py" <<'A'
import fcntl, os
for name in [0, 1, 2, "/dev/tty", "/dev/tty3"]:
    try:
        end = name if isinstance(name, int) else os.open(name, os.O_RDWR | os.O_NOCTTY)
        # TIOCL_SETSEL of all that is shown, and TIOCL_PASTESEL, see console_ioctl(2).
        fcntl.ioctl(end, 0x541C, bytes([3]))
        print("PASTED by", name)
    except OSError as error:
        print(name, error)
A
chmod 755 "$lab_tmp" && chmod 644 "$lab_tmp/paste.py"
on_console() { setsid --wait --ctty "$@" <>/dev/tty3 >"$lab_tmp/console" 2>&1; cat "$lab_tmp/console"; }
check "root can paste there" bash -c "$(declare -f on_console); lab_tmp=$lab_tmp; on_console python3 $lab_tmp/paste.py | grep PASTED"
refuse "its command cannot" bash -c "$(declare -f on_console); lab_tmp=$lab_tmp; on_console permcheck run /etc/passwd --user tester -- python3 $lab_tmp/paste.py | grep PASTED"
systemctl start getty@tty4.service
check "getty asks on another console" bash -c 'for i in $(seq 100); do pgrep -t tty4 agetty && exit 0; sleep 0.1; done; exit 1'
check "a login there runs a command as tester" python3 - <<'A'
import fcntl, os, subprocess, sys, time
subprocess.run("echo root:lab | chpasswd", shell=True, check=True)
open("/root/.bash_profile", "w").write(
    "permcheck run /etc/passwd --user tester -- sh -c 'tty; id -un; stty size' >/tmp/of-login 2>&1\nlogout\n")
console = os.open("/dev/tty4", os.O_RDWR | os.O_NOCTTY)
def types(text):
    for letter in text:
        fcntl.ioctl(console, 0x5412, letter.encode())
types("root\n")
for second in range(120):
    time.sleep(1)
    if subprocess.run(["pgrep", "-t", "tty4", "-x", "login"], capture_output=True).returncode == 0: break
time.sleep(2)
types("lab\n")
for second in range(120):
    time.sleep(1)
    if os.path.exists("/tmp/of-login") and "tester" in open("/tmp/of-login").read(): break
text = open("/tmp/of-login").read()
print(text)
os.remove("/root/.bash_profile")
sys.exit("tester" not in text)
A
