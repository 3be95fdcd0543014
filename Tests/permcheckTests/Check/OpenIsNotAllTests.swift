import Foundation
import TestSupport
import Testing

/// What the driver of a device asks besides permissions: sysctls, capabilities, and an exclusive use.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct OpenIsNotAllTests {
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "-pfmn", "--kill-child", "--mount-proc", "--propagation", "private", "timeout",
      "-k", "5", "60", "bash", "-uc",
      """
      mount -t tmpfs -o mode=755,dev none /srv; mount -t tmpfs -o mode=755 none /var/lib; cd /srv
      as() { setpriv --reuid 61002 --regid 61002 --clear-groups "$@"; }
      open() { /usr/bin/python3 -c 'import os, sys; os.open(sys.argv[1], int(sys.argv[2]))' $1 $2 2>&1 | sed -n 's/^.*Error: .Errno [0-9]*. \\([^:]*\\).*/\\1/p'; }
      fail() { echo "$@"; exit 9; }
      P=$1; export PERMCHECK_LOG=none LC_ALL=C.UTF-8; U="--uid 61002 --gid 61002"
      \(script)
      echo done
      """, "bash", Command.permcheck,
    ])
  }

  /// Row 8: devkmsg_open(); for every value of kernel.dmesg_restrict that this machine has now.
  @Test func `The log of the kernel`() throws {
    let outcome = try run(
      """
      mknod -m 666 k c 1 11; R=$(cat /proc/sys/kernel/dmesg_restrict); export -f open
      expect() { # FLAGS NEED PREFIX...
        local flags=$1 need=$2; shift 2; local kernel=$("$@" bash -c "open /srv/k $flags") said
        [ -z "$kernel" ] && kernel=0 || kernel=1; "$@" $P /srv/k --need $need -q; said=$?
        [ $kernel = $said ] || fail "$need $*: $said, the kernel says $kernel"
      }
      for way in "as" "setpriv --bounding-set -syslog" "setpriv --reuid 61002 --regid 61002 --clear-groups --inh-caps +syslog --ambient-caps +syslog" "unshare -Ur"; do
        expect 0 r $way; expect 1 w $way; expect 2 rw $way
      done
      as bash -c "open /srv/k 0"; $P explain /srv/k --need r $U >o; S=$?
      if [ $R = 1 ]; then [ $S = 1 ] && grep -q "^why: kernel.dmesg_restrict is 1, so only who has CAP_SYSLOG may read /srv/k, and uid 61002 has not (EPERM)" o || fail "$(cat o)"
      else [ $S = 0 ] || fail "$(cat o)"; fi
      $P explain /srv/k --need w $U -q || fail "w"
      """)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("done\n"), "\(outcome)")
  }

  /// Row 27: /dev/net/tun opens, and TUNSETIFF is EPERM.
  @Test func `An interface takes a capability`() throws {
    let outcome = try run(
      """
      [ -e /sys/dev/char/10:200 ] || { echo done; exit; }
      mkdir dev; mount -t tmpfs -o dev,mode=755 none dev; mknod -m 666 dev/tun c 10 200; mount --bind dev/tun /dev/net/tun
      use() { "$@" /usr/bin/python3 -c 'import fcntl, os, struct; fcntl.ioctl(os.open("/dev/net/tun", 2), 0x400454ca, struct.pack("16sH22x", b"t9", 0x1001))' 2>&1 | tail -1; }
      WITH="setpriv --reuid 61002 --regid 61002 --clear-groups --inh-caps +net_admin --ambient-caps +net_admin"
      use as | grep -q 'not permitted' || fail "the kernel allows it"; [ -z "$(use $WITH)" ] || fail "not even with the capability: $(use $WITH)"
      for w in "as $P tun" "$P tun $U" "$P explain tun $U"; do
        $w >o 2>&1; [ $? = 1 ] && grep -q "uid 61002 may open /dev/net/tun, but using it takes CAP_NET_ADMIN, which uid 61002 has not" o || fail "$w: $(cat o)"
      done
      $WITH $P tun -q || fail "with the capability"; $P tun -q || fail "root"; $P /dev/net/tun $U -q || fail "the open alone"
      use unshare -Ur | grep -q 'not permitted' || fail "the kernel allows it in a user namespace"; unshare -Ur $P tun -q; [ $? = 2 ] || fail "user namespace"
      chmod 600 /dev/net/tun; $P tun $U >o; [ $? = 1 ] && ! grep -q NET_ADMIN o || fail "closed: $(cat o)"
      """)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("done\n"), "\(outcome)")
  }

  /// Row 12: a terminal that one process took for itself (TIOCEXCL).
  @Test func `Who holds a terminal is named`() throws {
    let outcome = try run(
      """
      hold() { # EXCLUSIVE: a terminal of everybody
        /usr/bin/python3 -c "import os, time, fcntl; m, s = os.openpty(); n = os.ttyname(s); os.chmod(n, 0o666); $1; open('/srv/n', 'w').write(n); time.sleep(30)" & H=$!
        until [ -s n ]; do sleep .1; done; T=$(cat n)
      }
      hold "fcntl.ioctl(s, 0x540C)"; export -f open
      [ "$(as bash -c "open $T 2")" = "Device or resource busy" ] || fail "the kernel"; [ -z "$(open $T 2)" ] || fail "root"
      for w in "$P explain $T --need rw $U" "$P explain $T --need r --user nobody"; do
        $w >o; [ $? = 1 ] && grep -q "^why: access to $T is allowed, but python3[0-9.]* (pid $H, user root) is using it now" o || fail "$(cat o)"
      done
      as $P $T -q; [ $? = 1 ] || fail "himself"; $P $T -q || fail "root may"; $P $T --need rw $U --probe none -q || fail "nothing is asked"
      # A process whose controlling terminal it is, which it opens as /dev/tty.
      kill $H; wait $H 2>/dev/null; rm n
      for call in "fcntl.ioctl(0, 0x540C)" pass; do
        setsid /usr/bin/python3 -c "
      import os, time, fcntl
      m, s = os.openpty(); os.login_tty(s); $call; n = open('/srv/n', 'w'); os.setgid(61002); os.setuid(61002)
      try: os.open('/dev/tty', os.O_RDWR); a = 0
      except OSError as e: a = 1
      n.write(str(a)); n.flush(); time.sleep(30)" & H=$!
        until [ -s n ]; do sleep .1; done; $P /dev/tty --need rw --pid $H >o; A=$?
        [ $A = $(cat n) ] || fail "/dev/tty of another process, $call: $(cat n), $(cat o)"; kill $H; wait $H 2>/dev/null; rm n
      done; hold pass
      [ -z "$(as bash -c "open $T 2")" ] || fail "the kernel"; $P $T --need rw $U -q || fail "held, and not alone: $($P explain $T --need rw $U)"
      # The other end notices nothing: the last one to close it hangs up.
      /usr/bin/python3 -c "
      import os, select, subprocess, sys
      m, s = os.openpty(); os.chmod(os.ttyname(s), 0o666)
      for more in ('--uid', '61002', '--gid', '61002'), (): subprocess.run([sys.argv[1], os.ttyname(s), '--need', 'rw', *more], capture_output=True)
      assert not select.select([m], [], [], 0.2)[0], 'the master sees it'; os.write(s, b'x'); assert os.read(m, 9) == b'x'" $P || fail "hung up"
      """)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("done\n"), "\(outcome)")
  }

  /// Row 24: devices.list of a cgroup of version 1, which lists everything where nothing else is allowed.
  @Test func `A device cgroup of version 1 is read`() throws {
    let outcome = try run(
      """
      mount -t tmpfs -o mode=755 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/devices && mount -t cgroup -o devices none /sys/fs/cgroup/devices 2>/dev/null || { echo done; exit; }
      mkdir /sys/fs/cgroup/unified; mount -t cgroup2 none /sys/fs/cgroup/unified 2>/dev/null
      C=/sys/fs/cgroup/devices/permcheck-test-$$-$RANDOM; mkdir $C || { echo done; exit; }
      trap 'kill $H 2>/dev/null; wait $H 2>/dev/null; for i in 1 2 3 4 5; do rmdir $C 2>/dev/null && break; sleep .2; done' EXIT
      for n in 3 5 7 8; do mknod -m 666 n$n c 1 $n; done; mkfifo in; mkfifo out
      hold() { # in the cgroup: opens what it is told
        sh -c "echo \\$\\$ >$C/cgroup.procs; exec /usr/bin/python3 -uc '
      import os, sys
      for line in open(\\"/srv/in\\"):
          path, flags = line.split()
          try: os.close(os.open(path, int(flags))); print(0, file=open(\\"/srv/out\\", \\"w\\"))
          except OSError as error: print(error.errno, file=open(\\"/srv/out\\", \\"w\\"))'" & H=$!; exec 9>in
      }
      echo a >$C/devices.deny; echo 'c 1:5 rm' >$C/devices.allow; echo 'c 1:8 rwm' >$C/devices.allow; echo 'c 136:* rw' >$C/devices.allow; hold
      for n in 3 5 7 8; do for need in r:0 w:1 rw:2; do
        echo "/srv/n$n ${need#*:}" >&9; read kernel <out; $P explain /srv/n$n --need ${need%:*} --pid $H >o; said=$?
        [ $kernel = 0 ] && kernel=0 || kernel=1; [ $kernel = $said ] || fail "n$n $need: $said, the kernel says $kernel: $(cat o)"
      done; done
      $P explain /srv/n7 --need r --pid $H >o; grep -q "device-cgroup-rule='c 1:\\* rmw'" o || fail "$(cat o)"
      # What allows by default shows nothing of what it refuses.
      exec 9>&-; kill $H; wait $H 2>/dev/null; echo a >$C/devices.allow; echo 'c 1:7 rwm' >$C/devices.deny; hold
      echo "/srv/n7 0" >&9; read kernel <out; [ $kernel != 0 ] || fail "the kernel allows n7"; $P explain /srv/n7 --need r --pid $H -q; [ $? = 2 ] || fail "n7"
      """)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("done\n"), "\(outcome)")
  }
}
