import Foundation
import TestSupport
import Testing

/// Attacks on grants that exist: each is named after its row in SECURITY.md.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct AttackLeaseTests {
  func album(_ mode: UInt32 = 0o700) throws -> Tree {
    let tree = try Tree()
    try tree.folder("album", mode: mode)
    return tree
  }

  /// An administrator takes rights away between two grants; revoking the first brings none back.
  @Test func `Row 3: Revoking under a later grant`() throws {
    let tree = try album(0o750)
    try PrivateJournal().expect(
      """
      A=$1
      setfacl -m u:7:rwx $A
      is 0 $P request photos=$A --user games --yes
      setfacl -x u:7 $A; setfacl -m u:8:r $A; chmod o+x $A
      is 0 $P request photos=$A --user daemon --yes
      WITH=$(state $A)
      is 0 $P revoke photos --user games
      ! as 7 test -r $A || fail "the right that was taken away is back"
      ! as 5 test -r $A || fail "games keeps access"
      as 8 test -r $A || fail "somebody else's entry is gone"
      as 1 test -w $A || fail "daemon lost access"
      same "$(state $A | sort)" "$(echo "$WITH" | grep -v user:5: | sort)" "all but one entry"
      is 0 $P revoke --all
      same "$(getfacl -cpn $A | grep -c user:)" 2 "$(getfacl -cpn $A)"
      """, [tree.path("album")])
  }

  /// A user's entry that somebody set by hand after the grant is theirs.
  @Test func `Row 3: Entries of others stay`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1
      for set in r rx rwx-then-w; do
        setfacl -b $A
        is 0 $P request photos=$A --user games --yes
        case $set in
          r) setfacl -m u:5:r $A ;;
          rx) setfacl -m u:5:rx $A ;;
          *) setfacl -x u:5 $A; setfacl -m u:5:w $A ;;
        esac
        SET=$(getfacl -cpn $A | grep user:5)
        is 0 $P revoke photos
        same "$(getfacl -cpn $A | grep user:5)" "$SET" "the entry of an administrator"
      done
      setfacl -b $A; setfacl -m u:5:r $A
      HAD=$(state $A)
      is 0 $P request photos=$A --user games --yes --need rwx
      setfacl -m u:9:r $A
      is 0 $P revoke photos
      getfacl -cpn $A | grep -q "user:5:r--" || fail "what games had is gone: $(getfacl -cpn $A)"
      as 5 test ! -w $A || fail "games keeps more"
      setfacl -x u:9 $A
      same "$(getfacl -cpn $A)" "$(echo "$HAD" | grep : | grep -v '^# file' | sed '/^#/d')" "all"
      """, [tree.path("album")])
  }

  /// The file is moved away: it is found there.
  @Test func `Row 4: Moved folder`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      cd $1
      for there in nothing folder link; do
        rm -rf album other; mkdir -m 700 album
        is 0 $P request photos=$1/album --user games --yes
        mv album other
        case $there in folder) mkdir album ;; link) ln -s /etc album ;; esac
        is 0 $P revoke photos
        ! as 5 test -r $1/other || fail "$there: the access was carried off"
        ! getfacl -cpn other | grep -q user:5 || fail "$there: the entry is left"
        [ -z "$($P list --grants --format plain)" ] || fail "$there: something is listed"
      done
      rm -rf album other; mkdir -m 700 album
      is 0 $P request photos=$1/album --user games --yes
      rmdir album
      is 0 $P revoke photos
      [ -z "$($P list --grants --format plain)" ] || fail "deleted: something is listed"
      """, [tree.root])
  }

  /// The file system is not mounted, and comes back with another device number.
  @Test(
    arguments: Effort.some(["ext4", "xfs", "btrfs"], of: "AttackLeaseTests Row system", atLeast: 1))
  func `Row 4: Unmounted file system`(_ type: String) throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; TYPE=$2; mkdir m
      truncate -s 512M image spare
      mkfs.$TYPE -q image; mkfs.$TYPE -q spare
      loop() { losetup -f --show $1; }
      ONE=$(loop image); trap 'umount -l m 2>/dev/null || true; losetup -d $ONE $TWO $THREE 2>/dev/null || true; rm -f $OUT*' EXIT
      TWO= THREE=
      mount $ONE m; chmod 755 m; mkdir -m 700 m/album
      CLEAN=$(state m/album)
      is 0 $P request photos=$1/m/album --user games --yes
      umount m
      is 2 $P revoke photos
      $P list --grants --format plain | grep -q missing || fail "not listed: $($P list --grants)"
      mkdir -p m/album
      is 2 $P revoke --all
      rmdir m/album
      # Another file system with the same device number.
      losetup -d $ONE; ONE=$(loop spare)
      mkdir n; mount $ONE n
      is 2 $P revoke --all
      umount n
      TWO=$(loop spare) THREE=$(loop image)
      mount $THREE m
      as 5 test -w m/album || fail "who took it back?"
      mv m/album m/elsewhere
      is 0 $P revoke --expired
      mv m/elsewhere m/album
      same "$(state m/album)" "$CLEAN" "found again"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.root, type])
  }

  /// A full disk, and one that is read-only, keep no access alive.
  @Test func `Row 8: Full or read only disk`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1 CLEAN=$(state $1)
      mkdir /var/lib/permcheck; mount -t tmpfs -o size=256k,mode=700 tmpfs /var/lib/permcheck
      for uid in 5 1 2 3 4; do is 0 $P request photos=$A --user $uid --yes; done
      dd if=/dev/zero of=/var/lib/permcheck/fill bs=4k 2>/dev/null || true
      for uid in 5 1 2; do
        is 0 $P revoke photos --user $uid
        ! as $uid test -r $A || fail "a full disk kept the access of $uid"
      done
      mount -o remount,ro /var/lib/permcheck
      for uid in 3 4; do
        is 0 $P revoke photos --user $uid
        grep -q "not recorded" $OUT.e || fail "$(cat $OUT.e)"
        ! as $uid test -r $A || fail "a read-only disk kept the access of $uid"
      done
      same "$(state $A)" "$CLEAN" "all of them"
      is 70 $P request photos=$A --user games --yes
      same "$(state $A)" "$CLEAN" "nothing without a record"
      mount -o remount,rw /var/lib/permcheck; rm /var/lib/permcheck/fill
      is 0 $P revoke --all
      [ -z "$($P list --grants --format plain)" ] || fail "$($P list --grants)"
      """, [tree.path("album")])
  }

  /// The journal does not grow with grants that are over.
  @Test func `Row 9: The journal stays small`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1
      is 0 $P request photos=$A --user games --yes
      for i in $(seq $2); do
        is 0 $P request photos=$A --user daemon --yes
        is 0 $P revoke photos --user daemon
      done
      [ $(stat -c %s $J) -lt 131072 ] || fail "the journal has $(stat -c %s $J) bytes"
      # As an old journal that grew for years.
      python3 - $J $3 <<'END'
      import sys
      lines = open(sys.argv[1]).read().splitlines()
      intent = next(line for line in lines if '"intent"' in line and '"uid":1,' in line or '"intent"' in line)
      with open(sys.argv[1], "a") as journal:
          for number in range(int(sys.argv[2])):
              name = "old-%d" % number
              identity = __import__("json").loads(intent)
              identity.update(id=name, request=name)
              journal.write(__import__("json").dumps(identity) + "\\n")
              journal.write('{"event":"undone","id":"%s","time":"x","v":2}\\n' % name)
      END
      is 0 $P revoke photos --user daemon
      [ $(stat -c %s $J) -lt 131072 ] || fail "the journal has $(stat -c %s $J) bytes"
      same "$($P list --grants --format plain | wc -l)" 1 "listed"
      is 0 $P revoke --all
      """,
      [tree.path("album"), "\(Effort.of(60, atLeast: 6))", "\(Effort.of(20_000, atLeast: 2_000))"])
  }

  /// Access that a shorter grant gives is counted: it outlasts that grant.
  @Test func `Row 12: Shorter grants are counted`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1.own; mkdir $A; own $A; CLEAN=$(state $A)
      R="$G $P run photos=$A --request --yes --"
      mkfifo $OUT.f
      $R sh -c "cat $OUT.f >/dev/null" & FIRST=$!
      becomes as 5 test -w $A
      $R sh -c "exec sleep 100" & SECOND=$!
      two() { [ "$($G $P list --grants --format plain | wc -l)" = 2 ]; }
      becomes two
      chmod 666 $OUT.f; echo >$OUT.f; wait $FIRST
      as 5 test -w $A || fail "the second run lost it with the first"
      kill $SECOND; wait $SECOND || true
      same "$(state $A)" "$CLEAN" "after both"
      A=$1 CLEAN=$(state $1)
      is 0 $P request photos=$A --user games --yes --for 1h
      is 0 $P request photos=$A --user games --yes
      same "$($P list --grants --format plain | wc -l)" 2 "counted"
      is 0 $P request photos=$A --user games --yes
      same "$($P list --grants --format plain | wc -l)" 2 "once"
      sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
      is 0 $P revoke --expired
      as 5 test -w $A || fail "gone after the hour"
      is 0 $P revoke --all
      same "$(state $A)" "$CLEAN" "in the end"
      rm $OUT.f
      """, [tree.path("album")])
  }

  /// The number of a deleted inode is used again at the same path.
  @Test func `Row 13: Reused inode number`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir m; truncate -s 64M image; mkfs.ext4 -q image; mount -o loop image m
      trap 'umount -l m; rm -f $OUT*' EXIT
      chmod 755 m; mkdir -m 700 m/album
      is 0 $P request photos=$1/m/album --user games --yes
      NUMBER=$(stat -c %i m/album)
      # Another folder, with an entry of an administrator: one equal to the lease's would count as a copy of it.
      for try in $(seq 50); do
        rmdir m/album; mkdir -m 700 m/album; setfacl -m u:5:rw m/album
        [ $(stat -c %i m/album) = $NUMBER ] && break
      done
      [ $(stat -c %i m/album) = $NUMBER ] || fail "no number was used again"
      BEFORE=$(state m/album)
      is 0 $P revoke photos
      same "$(state m/album)" "$BEFORE" "another inode"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.root])
  }

  /// The user is not in the data base while the grant ends.
  @Test func `Row 14: Missing user`() throws {
    try PrivateJournal().expect(
      """
      private_etc
      echo 'lease-user:x:54399:54399::/:/bin/sh' >>/etc/passwd
      echo 'lease-group:x:54398:' >>/etc/group
      mkdir -m 750 /var/lib/album; chgrp 54398 /var/lib/album
      chmod 770 /var/lib/album
      is 0 $P request photos=/var/lib/album --user lease-user --strategy group --yes
      grep -q '^lease-group:.*lease-user' /etc/group || fail "$(cat $OUT.o $OUT.e)"
      sed -i '/^lease-user/d' /etc/passwd
      $P revoke photos >$OUT.o 2>$OUT.e || true
      if grep -q '^lease-group:.*lease-user' /etc/group; then
        $P list --grants --format plain | grep -q lease-group || fail "forgotten: $(cat $OUT.o $OUT.e)"
        echo 'lease-user:x:54399:54399::/:/bin/sh' >>/etc/passwd
        is 0 $P revoke photos
      fi
      ! grep -q '^lease-group:.*lease-user' /etc/group || fail "still a member"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """)
  }

  /// A mount that shows other ids, or cannot be written, is no reason to keep a lease: another mount is.
  @Test func `Row 53: A lease ends by the mount that can end it`() throws {
    let tree = try Tree()
    let oracle = Checkout.path("Tests/KernelConformanceTests/Oracle")
    try PrivateJournal(environment: ["PYTHONPATH": oracle, "PYTHONDONTWRITEBYTECODE": "1"]).expect(
      """
      cd $1; mkdir disk idmapped other way; chmod 755 .
      mount -t tmpfs -o mode=755 disk disk; mkdir -m 700 disk/album
      /usr/bin/python3 -c 'import kernel, sys
      kernel.bind_idmapped(*sys.argv[1:], kernel.user_namespace([[0, 100000, 65536]], [[0, 100000, 65536]]))' $1/disk $1/idmapped
      grep -q idmapped /proc/self/mountinfo || fail "not idmapped"
      # The idmapped mount is listed before the one that is left.
      mount --bind disk other; umount disk
      is 0 $P request photos=$1/other/album --user games --for 1h --yes
      as 5 test -w other/album || fail "not given"
      is 0 $P revoke --all
      ! as 5 test -r other/album || fail "idmapped: $(cat $OUT.o $OUT.e)"
      # Only the idmapped one is left.
      is 0 $P request photos=$1/other/album --user games --for 1h --yes
      umount other; mount --bind idmapped way
      is 2 $P revoke --all
      grep -q 'may still be there' $OUT.e || fail "idmapped alone: $(cat $OUT.o $OUT.e)"
      umount way; umount idmapped
      """, [tree.root])
  }

  @Test func `Row 53: What cannot be changed is left, and said each time`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir disk other; chmod 755 .
      mount -t tmpfs -o mode=755 disk disk; mkdir -m 700 disk/album disk/stuck
      mount --bind disk other
      # The first mount in the list is read-only, and another is not.
      is 0 $P request photos=$1/disk/album --user games --for 1h --yes
      mount -o remount,bind,ro disk
      is 0 $P revoke --all
      ! as 5 test -r disk/album || fail "left: $(cat $OUT.o $OUT.e)"
      # All of it is read-only.
      is 0 $P request photos=$1/other/album --user games --for 1h --yes
      mount -o remount,ro disk disk; mount -o remount,bind,ro other
      for times in 1 2; do
        is 2 $P revoke --all
        grep -q 'EROFS.*may still be there.*for writing' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
        ! grep -q 'nothing to revoke' $OUT.o || fail "nothing: $(cat $OUT.o)"
      done
      is 2 $P revoke --expired
      mount -o remount,rw disk disk; mount -o remount,bind,rw other
      is 0 $P revoke --all
      ! as 5 test -r other/album || fail "left: $(cat $OUT.o $OUT.e)"
      # Immutable.
      is 0 $P request photos=$1/other/stuck --user games --for 1h --yes
      chattr +i other/stuck
      is 2 $P revoke --all
      is 0 $P list --grants
      grep -q 'could not be ended' $OUT.o || fail "listed: $(cat $OUT.o)"
      is 2 $P revoke --all
      grep -q 'EPERM.*may still be there.*chattr -i' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
      chattr -i other/stuck
      is 0 $P revoke --all
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.root])
  }

  /// A copy of an image has the id of its original, and knows nothing of what happened there since.
  @Test func `Row 54: What is not on a copy is not deleted`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir disk copy; chmod 755 .
      truncate -s 16M image; mkfs.ext4 -q image; cp image older
      ONE=$(losetup -f --show image) TWO=$(losetup -f --show older)
      trap 'umount -l disk copy 2>/dev/null || true; losetup -d $ONE $TWO; rm -f $OUT*' EXIT
      mount $ONE disk; chmod 755 disk; echo x >disk/file; chmod 600 disk/file
      is 0 $P request $1/disk/file --need r --user games --for 1h --yes
      umount disk
      is 0 $P list --grants
      grep -q 'missing$' $OUT.o || fail "listed as in place: $(cat $OUT.o)"
      mount $TWO copy
      is 2 $P revoke --all
      grep -q 'may be a copy.*may still be there' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
      # The copy has the file, too, and is where the original was.
      umount copy; sync; cp image newer; losetup -d $TWO; TWO=$(losetup -f --show newer)
      mount $TWO disk
      as 5 test -r disk/file || fail "it is no copy"
      is 2 $P revoke --all
      grep -q 'may be a copy.*may still be there' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
      as 5 test -r disk/file || fail "the copy was changed"
      umount disk; mount $ONE disk
      as 5 test -r disk/file || fail "who took it back?"
      is 0 $P revoke --all
      ! as 5 test -r disk/file || fail "left: $(cat $OUT.o $OUT.e)"
      # What is gone from the file system itself is gone.
      is 0 $P request $1/disk/file --need r --user games --for 1h --yes
      rm disk/file
      is 0 $P revoke --all
      grep -q 'was deleted' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
      """, [tree.root])
  }

  /// The owner of leased files gives each of them thousands of entries, which nobody else pays for.
  @Test func `Row 57: A file with thousands of entries holds up nobody`() throws {
    let said = try PrivateJournal(limit: 110).expect(
      """
      F=/var/lib/many; mkdir $F /var/lib/other; chmod 700 /var/lib/other
      # fill BASE GROUPS: entries from `base` on, half of them of groups, unlike each other.
      fill() { /usr/bin/python3 - "$@" <<'END'
      import os, struct, sys
      users, groups, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
      entry = lambda tag, perm, id=0xffffffff: struct.pack("<HHI", tag, perm, id)
      had = os.getxattr(path, "system.posix_acl_access")[4:]
      had = [struct.unpack("<HHI", had[i:i + 8]) for i in range(0, len(had), 8)]
      named = {(tag, id): perm for tag, perm, id in had}
      named |= {(2, 100000 + i): i % 8 for i in range(users)} | {(8, 100000 + i): i // 3 % 8 for i in range(groups)}
      os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(
          entry(tag, perm, id) for (tag, id), perm in sorted(named.items())))
      END
      }
      took() { local start=$(date +%s%N); "$@" >$OUT.o 2>&1 || fail "$*: $(cat $OUT.o)"; echo $((($(date +%s%N) - start) / 1000000)); }
      for i in 1 2 3 4; do
        echo x >$F/$i; chmod 600 $F/$i
        is 0 $P request $F/$i --need r --user games --yes
        is 0 $P request $F/$i --need rw --user daemon --yes
        fill 4000 4000 $F/$i; chmod g=rwx $F/$i
      done
      $P explain $F/1 --user daemon --need r >$OUT.o 2>&1 || :
      echo "check $(took $P check $F/1 --need r --user games) ms, another's request $(took $P request photos=/var/lib/other --user daemon --yes) ms"
      # What cannot be ended is tried again, as it was.
      chattr +i $F/2; for times in 1 2; do is 2 $P revoke $F/2 --user games; done
      is 2 $P revoke --all --user games --forget; as 5 cat $F/2 >/dev/null || fail "not left"
      $P list --grants | grep -q "$F/2.*could not be ended" || fail "forgotten: $($P list --grants)"
      chattr -i $F/2
      all=$(took $P revoke --user games --all)
      for i in 1 2 3 4; do
        as 1 sh -c ": >>$F/$i" || fail "another lease on $i ended, too: $(getfacl -pn $F/$i | head -8)"
        ! as 5 cat $F/$i 2>/dev/null || fail "$i is still open: $(getfacl -pn $F/$i | head -8)"
      done
      is 0 $P revoke --user daemon --all
      echo "revoke $all ms"
      for i in 1 2 3 4; do
        ! as 1 cat $F/$i 2>/dev/null || fail "$i is still open: $(getfacl -pn $F/$i | head -8)"
        same "$(getfacl -pn $F/$i | grep -c ':10[0-9][0-9][0-9][0-9]:')" 8000 "the entries of others"
      done
      [ $all -lt 4000 ] || fail "revoke took $all ms"
      """)
    print("row 57:", said)
  }

  /// An editor puts a new file with the same ACL in the place of the one that is leased.
  @Test func `Row 58: A copy in the place of a leased file keeps no access`() throws {
    let tree = try Tree()
    try PrivateJournal(limit: 110).expect(
      """
      cd $1; chmod 755 .; mkdir -m 755 d
      old() { mv d/f d/older; cp -a d/older d/f; }
      for how in "sed -i s/a/b/ d/f" "sed -i.bak s/a/b/ d/f" "eval cp -a d/f d/n; mv d/n d/f" "old" \
        "eval cp -a d/f d/n; rm d/f; mv d/n d/f" "rsync -aA d/f d/new/ --remove-source-files; mv d/new/f d/f"; do
        case $how in rsync*) command -v rsync >/dev/null || continue ;; esac
        for leases in one two tree; do
          rm -rf d; mkdir -m 755 d; echo a >d/f; chmod 640 d/f; setfacl -m u:7:r d/f; BEFORE=$(getfacl -pn d/f)
          case $leases in
            tree) is 0 $P request photos=$1/d --recursive --need rwx --user games --yes ;;
            *) is 0 $P request $1/d/f --need rw --user games --yes ;;
          esac
          [ $leases != two ] || is 0 $P request $1/d/f --need r --user daemon --yes
          eval "$how"
          as 5 test -r d/f || fail "$how did not copy the ACL"
          is 0 $P revoke --user games --all
          ! as 5 test -r d/f || fail "$how, $leases: games reads: $(getfacl -pn d/f) $(cat $OUT.o $OUT.e)"
          as 7 test -r d/f || fail "$how, $leases: another user lost it"
          if [ $leases = two ]; then
            as 1 test -r d/f || fail "$how: daemon lost it"
            is 0 $P revoke --all
            ! as 1 test -r d/f || fail "$how: daemon reads"
          fi
          same "$(getfacl -pn d/f)" "$BEFORE" "$how, $leases"
        done
      done
      # Whatever the copy was made of, and whenever.
      begin() { is 0 $P revoke --all; rm -rf d; mkdir -m 755 d; for f in f b; do echo a >d/$f; chmod 600 d/$f; done; chown -R 9:9 d; }
      ends() { is 0 $P revoke --all; for f in d/f d/b; do ! as 1 cat $f 2>/dev/null || fail "$1: $f: $(getfacl -cpn $f) $(cat $OUT.o $OUT.e)"; done; }
      r() { is 0 $P request $1 --need $2 --user daemon --yes; }
      begin; r $1/d/f r; r $1/d/f rw; ID=$(grep -o '"request":"[^"]*"' $J | tail -1 | cut -d'"' -f4)
      as 9 sed -i s/a/b/ d/f; is 0 $P revoke --request $ID; as 1 cat d/f >/dev/null || fail "the other lease ended"; ends "one of two leases"
      begin; r $1/d/f r; as 9 cp -a d/f d/g; r $1/d/f rw; as 9 mv d/g d/f; ends "an earlier copy"
      begin; r $1/d/f r; as 9 cp -a d/f d/g; as 9 mv d/g d/f; r $1/d/f rw; ends "a lease on the copy"
      begin; is 0 $P request $1/d/f --need rw --user games --yes; as 9 mv d/f d/g; as 9 cp -a d/g d/f; r $1/d/f r
      ends "a lease of another user on the copy"; ! as 5 cat d/f 2>/dev/null || fail "games reads: $(getfacl -cpn d/f)"
      begin; r $1/d/f r; as 9 cp -a d/f d/g; as 9 mv d/g d/f; is 0 $P request $1/d/f --need rw --user games --yes
      is 0 $P revoke --all --user daemon; ! as 1 cat d/f 2>/dev/null || fail "below another lease: $(getfacl -cpn d/f) $(cat $OUT.e)"
      as 5 sh -c ': >>d/f' || fail "the lease on the copy ended"; is 0 $P revoke --all; same "$(getfacl -cpn d/f | grep -c user:)" 1 "entries"
      begin; mkdir -m 700 d/p; echo x >d/p/x; chmod 600 d/p/x; chown -R 9:9 d/p
      is 0 $P request photos=$1/d/p --need rx --user daemon --recursive --yes
      as 9 sh -c 'cp -a d/p d/p2; rm -rf d/p; mv d/p2 d/p'; ends "a folder"
      ! getfacl -pnR d/p | grep -q user:1 || fail "in the folder: $(getfacl -pnR d/p)"
      # What is somebody else's is not changed for the owner of a folder.
      begin; mkdir -m 755 else; sleep 0.05; r $1/d/f r; echo s >else/s; chmod 600 else/s; setfacl -m u:9:rw,u:1:r else/s; WITH=$(getfacl -cpn else/s)
      chown 0 else/s; rm d/f; ln else/s d/f
      is 2 $P revoke --all; same "$(getfacl -cpn else/s)" "$WITH" "a hard link"
      grep -q 'another owner, or with other hard links' $OUT.e || fail "$(cat $OUT.e)"
      is 0 $P revoke --all --forget; same "$(getfacl -cpn else/s)" "$WITH" "a hard link"
      rm d/f; begin; r $1/d/f r; r $1/d/b r; as 9 mv d/b d/f
      is 0 $P revoke $1/d/f --user daemon; as 1 cat d/f >/dev/null || fail "the lease of another file ended"
      ends "a leased file in the place of another"
      # Another file with a name of its own, and one that is older than the lease, are somebody else's.
      rm -rf d; mkdir -m 755 d; echo a >d/f; chmod 640 d/f; echo b >d/g; setfacl -m u:5:rw d/g; sleep 0.05; WITH=$(getfacl -cpn d/g)
      is 0 $P request $1/d/f --need rw --user games --yes
      mv d/g d/f
      is 0 $P revoke --all
      grep -q 'was deleted' $OUT.e || fail "$(cat $OUT.o $OUT.e)"
      same "$(getfacl -cpn d/f)" "$WITH" "an older file"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.root])
  }

  /// The wall clock was ahead when the lease began, and was set right; or it is set back later.
  @Test func `Row 59: No setting of the clock keeps a lease`() throws {
    let tree = try album(0o750)
    try PrivateJournal(limit: 110).expect(
      """
      # ahead KEY…: what the journal would have if the clock had been a day ahead; `boot` moves the clock of the boot, too.
      ahead() { /usr/bin/python3 - $J "$@" <<'END'
      import json, sys
      day, lines = 86_400_000_000, []
      for line in open(sys.argv[1]):
          line = json.loads(line)
          for given in line.get("leased", {}).get("given", []):
              given["since"] += day * 1000
              if "boot" in sys.argv: given["at"]["time"] += day
          if "changed" in line and "file" in sys.argv: line["changed"] += day * 1000
          if "expires" in line.get("lifetime", {}):
              line["lifetime"]["expires"] += day
          lines.append(json.dumps(line) + chr(10))
      open(sys.argv[1], "w").writelines(lines)
      END
      }
      A=$1
      # Only this program's clock was ahead; or that of the machine, and so that of the files.
      for clock in "" boot file; do
        rm -rf $A/*; setfacl -b $A; mkdir $A/kept
        BEFORE=$(getfacl -cpn $A $A/kept)
        is 0 $P request photos=$A --recursive --need rx --user games --yes
        ahead $clock
        echo x >$A/new; mkdir $A/sub; echo x >$A/sub/deep
        as 5 cat $A/sub/deep >/dev/null || fail "nothing was inherited"
        is 0 $P revoke --all
        ! getfacl -cpnR $A | grep -q user:5 || fail "$clock: left: $(getfacl -cpnR $A)"
        same "$(getfacl -cpn $A $A/kept)" "$BEFORE" "$clock"
      done
      # The time of a lease is over by the clock of the boot.
      is 0 $P request photos=$A --user games --need rwx --for 1 --yes
      ahead
      sleep 1.2
      is 0 $P revoke --expired
      ! as 5 test -w $A || fail "the lease lives: $(cat $OUT.o $OUT.e)"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.path("album")])
  }

  /// Names change, numbers do not.
  @Test func `Row 60: A renamed user or group keeps no membership`() throws {
    try PrivateJournal(limit: 110).expect(
      """
      private_etc
      groupadd -g 61050 band; groupadd -g 61051 other; mkdir -p /var/lib/homes
      useradd -u 61041 -U -m -d /var/lib/homes/atk atk
      mkdir -m 770 /var/lib/album; chgrp band /var/lib/album
      given() { is 0 $P request photos=/var/lib/album --user $1 --strategy group --yes; id -nG $1 | grep -qw $2 || fail "not given"; }
      given atk band
      groupmod -n banda band
      is 0 $P revoke --all
      ! id -nG atk | grep -qw banda || fail "the group was renamed: $(id atk) $(cat $OUT.o $OUT.e)"
      groupmod -n band banda
      given atk band
      usermod -l art atk
      is 0 $P revoke --all
      ! id -nG art | grep -qw band || fail "the user was renamed: $(id art) $(cat $OUT.o $OUT.e)"
      # Another group has the name now, of which somebody else made the user a member.
      given art band
      groupmod -n banda band; groupmod -n band other; gpasswd -a art band
      is 0 $P revoke --all
      same "$(id -nG art)" "atk band" "groups"
      groupmod -n other band; groupmod -n band banda; gpasswd -d art other
      # The uid is somebody else's now, whom somebody else made a member.
      given art band
      userdel -r art; useradd -u 61041 -U -m -d /var/lib/homes/eve eve; gpasswd -a eve band
      is 2 $P revoke --all
      grep -q 'uid 61041 was art and is eve now' $OUT.e || fail "not said: $(cat $OUT.e)"
      is 0 $P revoke --all --forget
      grep -q '^forgot' $OUT.o || fail "not forgotten: $(cat $OUT.o)"
      id -nG eve | grep -qw band || fail "another user lost the group"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """)
  }

  /// Whoever has access fills the disk, so that ACLs that share a block cannot be changed.
  @Test func `Row 61: A full disk keeps a folder open for nobody`() throws {
    let tree = try Tree()
    try PrivateJournal(limit: 110).expect(
      """
      cd $1; mkdir disk; chmod 755 .
      truncate -s 16M image; mkfs.ext4 -q -m 0 -I 256 image
      ONE=$(losetup -f --show image); trap 'umount -l disk 2>/dev/null || true; losetup -d $ONE; rm -f $OUT*' EXIT
      mount $ONE disk; mkdir -m 750 disk/d
      for i in $(seq 30); do echo x >disk/d/$i; setfacl -m u:101:r,u:102:r,u:103:r,u:104:r,u:105:r,u:106:r,u:107:r,u:108:r,u:109:r,u:110:r,u:111:r,u:112:r disk/d/$i; chmod o= disk/d/$i; done
      is 0 $P request photos=$1/disk/d --need rx --user games --recursive --yes
      as 5 cat disk/d/7 >/dev/null || fail "not given"
      chmod 777 disk; as 5 sh -c "cat /dev/zero >disk/fill; i=0; while head -c 1024 /dev/zero >disk/fill.\\$i; do i=\\$((i + 1)); done" 2>/dev/null || :
      got=0; $P revoke --all >$OUT.o 2>$OUT.e || got=$?
      left=0; for i in $(seq 30); do ! as 5 cat disk/d/$i >/dev/null 2>&1 || left=$((left + 1)); done
      same $left 0 "files that games reads"
      same $got 2 "the disk was not full, or nothing was said"
      grep -q 'ENOSPC.*may still be there.*make room' $OUT.e || fail "why: $(head -5 $OUT.e)"
      same "$(grep -c '^left' $OUT.o)" "$(getfacl -pnR disk/d | grep -c user:5)" "$(head -5 $OUT.e)"
      rm disk/fill*
      is 0 $P revoke --all
      ! getfacl -pnR disk/d | grep -q user:5 || fail "left: $(cat $OUT.e)"
      """, [tree.root])
  }
}
