import Foundation
import TestSupport
import Testing

/// Rows 40 to 43, 47, 49, 50 and 56 of SECURITY.md: root reads what others can change by one door, which waits for nobody and sees
/// nothing of root's.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct AttackDoorTests {
  /// `home OPENS FILE=TEXT…`: the home of games is a server that answers each look, and so many opens.
  private static let ground = """
    private_etc
    mkdir -m 755 $ROOT/home $ROOT/pics; chown 5:5 $ROOT/home $ROOT/pics; chmod 000 $ROOT/pics
    sed -i "s#^games:.*#games:x:5:5::$ROOT/home:/bin/sh#" /etc/passwd
    home() { /usr/bin/python3 $SERVER $ROOT/home 5 "$@" >$OUT.served 2>&1 & SERVED=$!; becomes grep -qs mounted $OUT.served; }
    away() { kill -9 $SERVED; wait $SERVED 2>/dev/null || :; umount -l $ROOT/home; }
    # soon COMMAND…: ends, whatever it says, and no other process keeps the journal meanwhile.
    soon() {
      local start=$(date +%s%N) got=0
      timeout -k 1 20 "$@" >$OUT.o 2>$OUT.e </dev/null || got=$?
      local took=$((($(date +%s%N) - start) / 1000000))
      case $got in 124|137) fail "$* hung: $(cat $OUT.e)" ;; esac
      [ $took -lt \(Effort.isFull ? 12_000 : 8_000) ] || fail "$* took $took ms"
      echo "$took ms, $got: $*"
    }
    S="setpriv --reuid 5 --regid 5 --clear-groups --inh-caps=-all"
    trap 'rm -rf $OUT $OUT.*' EXIT

    """

  @discardableResult
  private func expect(_ script: String, limit: Int = 110) throws -> String {
    let tree = try Tree()
    let variables = [
      "ROOT": tree.root, "SERVER": Checkout.path("Tests/permcheckTests/Storage/home.py"),
      "EXCHANGE": Checkout.path("Tests/permcheckTests/Storage/exchange.py"),
    ]
    return try PrivateJournal(environment: variables.mapValues(Optional.some), limit: limit)
      .expect(Self.ground + script)
  }

  /// Whoever owns a home may keep an open of it waiting, the first one or a later one.
  @Test(
    arguments: Effort.some(
      ["none", "second", "1", "2", "3"], of: "AttackDoorTests Row 40", atLeast: 2))
  func `Row 40: A home that answers no open holds up nobody`(_ opens: String) throws {
    try expect(
      """
      mkdir -m 700 $ROOT/other; BEFORE=$(state $ROOT/other)
      printf '[[expect]]\\naccessor = "photos"\\nuser = "games"\\nis = "granted"\\n' >$OUT.toml
      for what in "check photos --user games" "explain photos --user games" "check mic --user games" \\
        "request photos --user games --dry-run" "request photos --user games --yes" \\
        "request mic --user games --dry-run" "watch photos --user games --for 1" "verify $OUT.toml" \\
        "revoke photos --user games"; do
        rm -rf /var/lib/permcheck
        is 0 $P request photos=$ROOT/other --user daemon --for 1h --yes
        sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
        home \(opens) .config/user-dirs.dirs="XDG_PICTURES_DIR=\\"$ROOT/pics\\"" .asoundrc='pcm.!default { type hw card 1 }'
        timeout -k 1 20 $P $what >$OUT.1 2>$OUT.2 </dev/null & REQUEST=$!
        sleep 0.3
        soon $P revoke --expired
        same "$(state $ROOT/other)" "$BEFORE" "$what: the other lease"
        got=0; wait $REQUEST || got=$?
        case $got in 124|137) fail "$what hung: $(cat $OUT.1 $OUT.2)" ;; esac
        away
      done
      """)
  }

  @Test func `Row 40: The helper looks at no home`() throws {
    try expect(
      """
      home none .config/user-dirs.dirs=x .asoundrc='pcm.!default null' .config/alsa/asoundrc=x .config/permcheck/accessors.d/x.toml=x
      for what in "grant microphone --for 9" "grant camera" "revoke microphone"; do
        soon env -i SUDO_UID=5 HOME=$ROOT/home XDG_CONFIG_HOME=$ROOT/home/.config $H $what
      done
      ! grep -q held $OUT.served || fail "a file of the home was opened"
      away
      """)
  }

  /// A link in a home, or in the root directory of a process, leads to nothing that only root may read.
  @Test func `Row 41: Nothing of root's is printed`() throws {
    try expect(
      """
      echo 'XDG_PICTURES_DIR="/very/SECRET/place"' >/var/lib/secret; chmod 600 /var/lib/secret
      echo 'pcm.!default SECRET' >/var/lib/sound; chmod 600 /var/lib/sound; cp /var/lib/sound /var/lib/marker
      mkdir -p $ROOT/home/.config
      ln -s /var/lib/secret $ROOT/home/.config/user-dirs.dirs; ln -s /var/lib/sound $ROOT/home/.asoundrc
      chown -hR 5:5 $ROOT/home
      for who in "--user games" "--uid 5 --gid 5"; do
        for what in "check photos mic" "explain photos" "explain mic" "request photos --dry-run" "check photos mic --json"; do
          $P $what $who >$OUT.o 2>$OUT.e </dev/null || :
          ! grep -q SECRET $OUT.o $OUT.e || fail "$what $who: $(cat $OUT.o $OUT.e)"
        done
      done
      # Root with the HOME of somebody else, as after su -m.
      env HOME=$ROOT/home $P check photos mic >$OUT.o 2>&1 || :
      ! grep -q SECRET $OUT.o || fail "HOME of another: $(cat $OUT.o)"
      # Also by a folder of declarations, and by a folder that all may write.
      mkdir -m 700 /var/lib/only; printf 'name = "secretive"\nsummary = "SECRET"\ndirectory = "/"\n' >/var/lib/only/x.toml; chmod 600 /var/lib/only/x.toml
      mkdir -p $ROOT/home/.config/permcheck; ln -s /var/lib/only $ROOT/home/.config/permcheck/accessors.d
      mkdir -m 1777 /var/lib/all; ln -s /var/lib/secret /var/lib/all/user-dirs.dirs; chown -hR 5:5 $ROOT/home
      for home in "HOME=$ROOT/home" "XDG_CONFIG_HOME=/var/lib/all" "XDG_CONFIG_HOME=$ROOT/home/.config"; do
        for what in "list" "check photos" "check secretive"; do
          env $home $P $what >$OUT.o 2>&1 || :
          ! grep -q SECRET $OUT.o || fail "$home $what: $(cat $OUT.o)"
        done
      done
      # A process in a root directory of its own, which its user has made.
      mkdir -p $ROOT/own; chown 5:5 $ROOT/own
      $S unshare -Urm sh -c "
        mount -t tmpfs none $ROOT/own; cd $ROOT/own; mkdir -p run/systemd run/host proc snap/meta usr lib lib64 bin dev
        for d in usr lib lib64 bin; do mount --rbind /\\$d \\$d; done
        ln -s /var/lib/marker run/systemd/container; ln -s /var/lib/marker run/host/container-manager
        ln -s /var/lib/marker .flatpak-info; ln -s /var/lib/marker run/.containerenv; ln -s /var/lib/marker snap/meta/snap.yaml
        echo ready >ready; SNAP=/snap SNAP_NAME=x exec chroot . /bin/sleep 60" >$OUT.log 2>&1 & INSIDE=$!
      becomes grep -q sleep /proc/$INSIDE/cmdline
      for what in "check camera" "check camera --json" "check photos=/srv" "explain /usr"; do
        $P $what --pid $INSIDE >$OUT.o 2>$OUT.e </dev/null || :
        ! grep -q SECRET $OUT.o $OUT.e || fail "$what: $(cat $OUT.o $OUT.e)"
      done
      kill $INSIDE
      """)
  }

  /// A process may have mounted a silent server where markers of containers are looked for.
  @Test func `Row 42: A process's own mounts hold up nobody`() throws {
    try expect(
      """
      $S unshare -Urm --propagation private sh -c "mount -t tmpfs none /run; echo ready >/run/ready; exec sleep 60" & INSIDE=$!
      becomes grep -q ready /proc/$INSIDE/root/run/ready
      mkdir $ROOT/silent
      nsenter -t $INSIDE -m /usr/bin/python3 ${SERVER%home.py}server.py /run 5 0 allow_other >$OUT.served 2>&1 & SERVED=$!
      becomes grep -qs mounted $OUT.served
      for what in "check camera" "check photos=/srv" "explain /srv" "explain photos"; do
        soon $P $what --pid $INSIDE
      done
      kill -9 $SERVED $INSIDE; wait $SERVED $INSIDE 2>/dev/null || :
      """)
  }

  /// 256 kB of anything in a home cost no more time and memory than a small file.
  @Test func `Row 43: A file that is dear to read is not read`() throws {
    try expect(
      """
      mkdir -p $ROOT/home/.config/alsa
      for script in 'print("".join("k%x=1;"%i for i in range(5000))+"!x=1;"*30000)' 'print("a{"*130000)' 'print("a."*15000)' \\
        'print("{"*30000)' 'print("!a=1;"*6000)' 'print("pcm."*8000+"x 1")' 'print("".join("k%x=1;!k=1;"%i for i in range(2500)))'; do
        python3 -c "$script" >$ROOT/home/.asoundrc; cp $ROOT/home/.asoundrc $ROOT/home/.config/user-dirs.dirs
        for what in "check mic --user games" "check photos --user games"; do
          (ulimit -v 2000000; soon $P $what)
        done
      done
      """)
  }

  /// Programs of a PATH, and a folder that is watched, may lie on a silent server.
  @Test(arguments: ["none", "1", "2"])
  func `Row 47: A silent PATH holds up nobody`(_ opens: String) throws {
    try expect(
      """
      home \(opens) bin/permcheck-accessor-mine='#!/bin/sh' .config/user-dirs.dirs=x
      soon env PATH=$ROOT/home/bin:$PATH $P list
      soon env PATH=$ROOT/home/bin:$PATH $P check mine
      soon $P watch photos=$ROOT/home --for 1
      soon $P watch photos --user games --for 1
      away
      """)
  }

  /// Everything that root reads of others is exchanged while root reads it.
  @Test func `Row 56: Nothing is read that was not meant, whatever takes its place`() throws {
    let said = try expect(
      """
      export TOKEN=SECRET; echo 'SECRET:SECRET:1:0:9:7:::' >/etc/shadow
      mkdir -m 700 /var/lib/secrets; cd /var/lib/secrets
      echo 'XDG_PICTURES_DIR="/very/SECRET/place"' | tee user-dirs.dirs >.config_user-dirs.dirs
      echo 'pcm.!default SECRET' | tee .asoundrc asoundrc >.config_alsa_asoundrc
      printf 'name = "mine"\\nsummary = "SECRET"\\ndirectory = "/"\\n' | tee x.toml >.config_permcheck_accessors.d_x.toml
      printf '#!/bin/sh\\necho SECRET; touch /var/lib/ran\\n' | tee permcheck-accessor-mine >bin_permcheck-accessor-mine
      for name in run_systemd_container run_host_container-manager run_.containerenv .flatpak-info snap_meta_snap.yaml \
        proc_asound_cards cards etc_passwd passwd etc_group group sys_class_sound_card0_id run_systemd_seats_seat0 seat0 \
        sys_class_video4linux_video0_name name run_udev_data_c81:0 etc_asound.conf; do
        echo ' 0 [SECRET ]: name="SECRET" SECRET:x:5:5::/SECRET:/bin/sh' >$name
      done
      chmod 755 *accessor-mine; chmod 600 [!b]*; cd /
      R=$ROOT/R; own=$ROOT/home/own; mkdir -p $R/dev/snd $own; touch $R/dev/video0 $R/dev/snd/pcmC0D0c; chown -R 5:5 $ROOT/home $R
      /usr/bin/python3 $EXCHANGE $ROOT/home 5 /var/lib/secrets \(Effort.of(20_000, atLeast: 1_000)) .asoundrc='pcm.!default { type hw card 1 }' \
        .config/user-dirs.dirs="XDG_PICTURES_DIR=\"$ROOT/pics\"" .config/alsa/asoundrc='pcm.!default null' \
        .config/permcheck/accessors.d/x.toml='name = "mine"\ndirectory = "/"\nsummary = "x"' \
        bin/permcheck-accessor-mine='#!/bin/sh\ntouch /var/lib/ran' >$OUT.home 2>&1 & HOME_=$!
      /usr/bin/python3 $EXCHANGE $own 5 /var/lib/secrets 1000000 run/systemd/container=lxc run/host/container-manager=x \
        run/.containerenv=x .flatpak-info='name=x' snap/meta/snap.yaml='name: x' >$OUT.own 2>&1 & OWN=$!
      /usr/bin/python3 $EXCHANGE $R 5 /var/lib/secrets 1000000 proc/asound/cards=' 0 [CARD ]' etc/passwd='games:x:5:5::/:/bin/sh' \
        etc/group='games:x:5:' sys/class/sound/card0/id=x sys/class/video4linux/video0/name=x run/udev/data/c81:0=x \
        run/systemd/seats/seat0=x etc/asound.conf='pcm.!default null' >$OUT.root 2>&1 & ROOT_=$!
      becomes grep -q ready $OUT.home; becomes grep -q ready $OUT.own; becomes grep -q ready $OUT.root
      # The process begins where it has made its root.
      $S env SNAP=/snap unshare -Ur /usr/bin/python3 -c 'import os, sys, time; os.chroot(sys.argv[1]); print("in", flush=True); time.sleep(999)' $own >$OUT.in 2>&1 & IN=$!
      becomes grep -q in $OUT.in
      runs=0
      while kill -0 $HOME_ 2>/dev/null; do
        for what in "check photos mic --user games" "explain photos --user games --json" "request photos --user games --dry-run" \
          "check camera mic --pid $IN" "check camera --pid $IN --json" "check camera mic photos --root $R --user games" \
          "list --root $R" "check mic --root $R --json" "env HOME=$ROOT/home $P check photos mic mine" \
          "env HOME=$ROOT/home PATH=$ROOT/home/bin:$PATH $P list" "$H grant mic"; do
          case $what in env*|/*) ;; *) what="$P $what" ;; esac
          soon $what >/dev/null
          ! grep -aq SECRET $OUT.o $OUT.e || fail "$what: $(cat $OUT.o $OUT.e)"
          runs=$((runs + 1))
        done
        [ ! -e /var/lib/ran ] || fail "a program of games ran"
      done
      kill $OWN $ROOT_ $IN
      cat $OUT.home; echo "$runs commands"
      """, limit: 1000)
    print("row 56:", said.suffix(60))
    #expect(said.contains(/\d+ 0\n/), "a FIFO was opened: \(said)")
  }

  /// What a link below another root leads to is what chroot(2) finds there.
  @Test func `Row 49: No link leads out of another root`() throws {
    try expect(
      """
      R=$ROOT/R; OUTSIDE=$ROOT/data; mkdir -p $R/srv/deep/er $R/etc $R$OUTSIDE $R/sbin $OUTSIDE
      for place in $OUTSIDE $R$OUTSIDE; do echo x >$place/open; echo x >$place/closed; chmod 600 $place/closed; done
      echo x >$OUTSIDE/turned; chmod 600 $OUTSIDE/turned; echo x >$R$OUTSIDE/turned
      echo x >$R$OUTSIDE/shut; chmod 600 $R$OUTSIDE/shut; echo x >$OUTSIDE/shut; echo x >$OUTSIDE/only
      cp /etc/passwd /etc/group $R/etc
      ln -s $OUTSIDE $R/srv/absolute; ln -s ../../../../../../../../..$OUTSIDE $R/srv/up
      ln -s absolute $R/srv/again; ln -s /srv/again $R/srv/deep/root; ln -s /.. $R/srv/top; ln -s /srv/deep/er $R/srv/er
      for place in absolute up again deep/root top$OUTSIDE er/../../up er/../../..$OUTSIDE ../../../..$OUTSIDE; do
        for file in open closed turned shut only; do
          want=0
          /usr/bin/python3 -c 'import os, sys; os.chroot(sys.argv[1]); os.setgroups([]); os.setgid(5); os.setuid(5); open(sys.argv[2])' \
            $R /srv/$place/$file 2>/dev/null || want=1
          path=/srv/$place/$file; got=0
          $P check $path --need r --root $R --user games >$OUT.o 2>&1 || got=1
          [ $got = $want ] || fail "$path: $(cat $OUT.o)"
          ! grep -E "(^| )$OUTSIDE" $OUT.o || fail "$path names a file of another root"
        done
      done
      """)
  }

  /// A link of /proc leads to a place of this machine, and what is above the root is none of that machine's.
  @Test func `Row 49: A root is judged alone, and its users are read as glibc reads them`() throws {
    try expect(
      """
      R=$ROOT/above/R; mkdir -p $R/srv $R/etc $R/proc; echo x >$R/srv/open; chmod 700 $ROOT/above
      printf 'root:x:0:0\n\n# note\n  games:x:5:60::/\n+nis\nlast:x:7:7:a:/:/bin/sh' >$R/etc/passwd
      printf ' band:x: 62: ada,games\nshort:x:63\n' >$R/etc/group
      judge() { $P check $1 --need r --root $R --user $2 >$OUT.o 2>&1; echo $?; }
      for user in root games last; do
        [ "$(judge /srv/open $user)" = 0 ] || fail "$user: $(cat $OUT.o)"
      done
      chmod 750 $R/srv; chgrp 62 $R/srv
      [ "$(judge /srv/open games)" = 0 ] || fail "the group of a line with blanks: $(cat $OUT.o)"
      [ "$(judge /srv/open last)" = 1 ] || fail "no member: $(cat $OUT.o)"
      ! grep -E "$ROOT/above( |$)" $OUT.o || fail "a folder above the root: $(cat $OUT.o)"
      for name in +nis nis band; do [ "$(judge /srv/open $name)" = 64 ] || fail "$name: $(cat $OUT.o)"; done
      echo x >$ROOT/host; chmod 600 $ROOT/host; ln -s . $R$ROOT 2>/dev/null || mkdir -p $R$ROOT
      mount --rbind /proc $R/proc
      for path in /proc/self/root$ROOT/host /proc/self/cwd$ROOT/host /proc/1/root$ROOT/host /proc/self/root; do
        for user in root games; do
          got=$(cd /; judge $path $user)
          [ $got != 0 ] && ! grep -q setfacl $OUT.o || fail "$path for $user: $got $(cat $OUT.o)"
        done
      done
      umount -l $R/proc
      """)
  }

  /// Whoever made the files below another root learns nothing of root's, and keeps nobody waiting.
  @Test func `Row 50: Nothing of root's is read below another root`() throws {
    try expect(
      """
      R=$ROOT/home; mkdir -p /var/lib/secret; chmod 700 /var/lib/secret; (cd /var/lib/secret; mkdir -p card0 video0 c0 seats
      for name in cards card0/id video0/name c0/pcm0c c81:0 +sound:card0 seat0 uevent passwd group; do
        mkdir -p $(dirname $name); echo ' 0 [SECRET ]: USB-Audio - SECRET' >$name
      done; chmod 600 */* * 2>/dev/null; chmod 700 card0 video0 c0)
      tries() {
        for what in "check camera mic photos" "check mic" "check camera --json" "explain camera" "explain mic" "list" \
          "check photos --user games" "check camera=/dev/video0 mic=/dev/snd/pcmC0D0c"; do
          soon $P $what --root $R
          ! grep -q SECRET $OUT.o $OUT.e || fail "$what: $(cat $OUT.o $OUT.e)"
        done
      }
      mkdir -p $R/proc/asound $R/sys/class/video4linux $R/sys/class/sound $R/sys/dev/char $R/dev/snd $R/run/udev $R/run/systemd $R/etc
      ln -s /var/lib/secret/cards $R/proc/asound/cards; ln -s /var/lib/secret/card0 $R/proc/asound/card0
      ln -s /var/lib/secret/video0 $R/sys/class/video4linux/video0; ln -s /var/lib/secret $R/run/udev/data
      ln -s /var/lib/secret $R/run/systemd/seats; ln -s /var/lib/secret/video0 $R/sys/dev/char/81:0
      ln -s /var/lib/secret/passwd $R/etc/passwd; ln -s /var/lib/secret/group $R/etc/group
      touch $R/dev/video0 $R/dev/snd/pcmC0D0c $R/dev/snd/controlC0
      tries
      ln -sfn ../../../../../../../../../var/lib/secret/cards $R/proc/asound/cards
      rm $R/etc/passwd $R/etc/group $R/sys/class/video4linux/video0; mkdir $R/sys/class/video4linux/video0
      mkfifo $R/etc/passwd $R/sys/class/video4linux/video0/name
      tries
      rm -rf $R; mkdir $R; chown 5:5 $R
      for opens in none 1 2 3; do
        home $opens proc/asound/cards=' 0 [CARD ]' proc/asound/card0/id=x sys/class/video4linux/video0/name=x \
          dev/video0=x dev/snd/pcmC0D0c=x run/udev/data/c81:0=x run/systemd/seats/seat0=x
        tries
        away
      done
      """, limit: 300)
  }
}
