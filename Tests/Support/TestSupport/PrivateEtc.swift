extension Command {
  /// A function of the shell that gives a script, in a mount namespace of its own, its own /etc.
  ///
  /// Other people may add users meanwhile. Then files vanish while they are copied, and what is mounted
  /// on /etc/passwd or /etc/group goes: rename(2) over a mount point ends it in every other namespace
  /// (`detach_mounts()` of fs/namespace.c).
  package static let privateEtc = """
    private_etc() {
      local etc
      etc=$(mktemp -d)
      mount -t tmpfs -o mode=755 none "$etc"
      cp -a /etc/. "$etc" 2>/dev/null || :
      rm -f "$etc"/*.lock
      test -s "$etc/passwd" && test -s "$etc/group"
      mount --move "$etc" /etc
      rmdir "$etc"
    }

    """
}
