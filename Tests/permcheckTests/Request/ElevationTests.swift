import TestSupport
import Testing

/// What sudo and pkexec answer reaches the person who asked, in words that help.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's side and its private mount want root"))
struct ElevationTests {
  /// A camera of its own, and `refuses PROGRAM COMMAND`: an installed sudo or pkexec that runs the command.
  private static let machine =
    AttackHelperTests.camera
      + """
      mount -t tmpfs -o mode=755 tmpfs /usr/sbin; export PATH=/usr/sbin:$PATH
      D=$(mktemp -d); chmod 755 $D; mkdir -m 777 $D/home
      trap "rm -rf $D; rm -f $OUT $OUT.o $OUT.e" EXIT
      refuses() { printf '#!/bin/sh\\n%s\\n' "$2" >/usr/sbin/$1; chmod 755 /usr/sbin/$1; }
      games() { as 5 env HOME=$D/home XDG_STATE_HOME=$D/home "$@"; }
      ends() { is $1 games $P request camera --user 5 --yes --via $2; }
      says() { grep -qF -- "$1" $OUT.o $OUT.e || fail "no '$1' in: $(cat $OUT.o $OUT.e)"; }
      unsaid() { ! grep -qF -- "$1" $OUT.o $OUT.e || fail "'$1' in: $(cat $OUT.o $OUT.e)"; }

      """

  private func expect(_ script: String) throws {
    try PrivateJournal().expect(
      Self.machine + script + "\nis 0 $P list --grants; says 'no grants'\n")
  }

  @Test func `A refusal says what an administrator can do`() throws {
    try expect(
      """
      refuses sudo 'exit 1'
      ends 1 sudo; says 'sudo does not let this user run'; says 'try again at a terminal, or as root'
      refuses pkexec 'exit 126'
      ends 1 pkexec; says 'the password dialog was dismissed'
      refuses pkexec 'exit 127'
      ends 1 pkexec; says 'polkit does not allow this session'; says 'use sudo'
      # One after the other: both are told.
      ends 1 auto; says 'sudo does not let this user run'; says 'polkit does not allow'; says 'ask an administrator'
      """)
  }

  @Test func `Who dismisses a dialog is not asked again`() throws {
    try expect(
      """
      refuses sudo 'exit 1'; refuses pkexec 'exit 126'
      ends 1 auto; says 'the password dialog was dismissed'
      refuses sudo 'kill -INT $$'; refuses pkexec 'echo asked >/usr/sbin/asked; exit 127'
      ends 70 auto; says 'signal 2 ended sudo'; unsaid polkit
      """)
  }

  @Test func `Any other end is told as it is`() throws {
    try expect(
      """
      refuses sudo 'exit 7'
      ends 70 sudo; says 'as root, failed with status 7'
      printf '#!/no/interpreter\\n' >/usr/sbin/sudo
      ends 70 sudo; says 'sudo cannot be run'; says 'run permcheck as root'
      """)
  }

  /// The pty answers for a terminal: there sudo could ask.
  @Test func `At a terminal the line for sudoers is named`() throws {
    try expect(
      """
      mkdir /dev/pts; mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts; ln -s pts/ptmx /dev/ptmx
      refuses sudo 'exit 1'
      games script -qec "$P request camera --user 5 --yes --via sudo" /dev/null >$OUT.o 2>&1 </dev/null || :
      says 'an administrator can allow it in sudoers(5): USER ALL=(root)'
      : >$OUT.e
      """)
  }
}
