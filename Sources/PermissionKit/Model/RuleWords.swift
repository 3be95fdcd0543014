/// The words for a rule of the kernel, by its token, such as `acl-user:1000`.
///
/// A token without an entry here becomes words by removing its hyphens: `too many links`.
package struct RuleWords {
  /// The class of users that the bits are for, such as `others`; nil for a rule that is not about bits.
  private let whom: String?
  private let other: String

  package init(_ token: String) {
    let parts = token.parts(by: ":").map(String.init)
    let id = parts.last ?? ""
    let rule =
      parts.count > 1 && UInt32(id) != nil ? parts.dropLast().joined(separator: ":") : token
    whom = Self.classes[rule].map {
      $0.parts(by: "#", omittingEmptySubsequences: false).joined(separator: id)
    }
    other =
      parts.first == "failed"
      ? "cannot be read (\(id))"
      : Self.known[parts.first ?? ""] ?? token.parts(by: "-").joined(separator: " ")
  }

  /// The class of users for each token with bits; # is the id in the token.
  private static let classes = [
    "owner-bits": "the owner", "group-bits": "the group", "other-bits": "others",
    "group-bits(mask-empty)": "the group (the ACL mask is empty)",
    "other-bits(mask-empty)": "others (the ACL mask is empty)", "acl-user": "uid # by ACL",
    "acl-owning-group": "the group by ACL", "acl-group": "gid # by ACL",
    "acl-other": "others by ACL",
    "acl-mask:user": "uid # by the ACL mask", "acl-mask:group": "gid # by the ACL mask",
    "acl-mask:owning-group": "the group by the ACL mask",
  ]

  private static let known = [
    "cap-dac-override": "CAP_DAC_OVERRIDE", "cap-dac-read-search": "CAP_DAC_READ_SEARCH",
    "missing": "not found", "read-only-superblock": "the file system is read-only",
    "read-only-mount": "mounted read-only", "immutable": "immutable (chattr +i)",
    "append-only": "append-only (chattr +a)", "nodev-mount": "mounted with nodev",
    "noexec-mount": "mounted with noexec", "nosymfollow-mount": "mounted with nosymfollow",
    "unmapped-owner": "the owner has no id on this mount",
    "fuse-other-user": "FUSE mount of another user",
    "locked": "encrypted and locked", "protected-symlink": "another user's link in a sticky folder",
    "unreadable-facts": "cannot be read",
    "unmapped-id": "an id is not known in this user namespace",
    "network-file-system": "the server decides", "server-decides": "the server may refuse it",
    "unheeded-acl": "the kernel may ignore the ACL", "automount": "not mounted yet",
    "not-answering": "the server does not answer", "fuse-daemon": "the FUSE daemon decides",
    "file-system-rules": "the file system has its own rules",
    "sticky": "sticky", "sticky-directory": "another user's file in a sticky folder",
    "not-owner": "not the owner", "needs-cap-chown": "needs CAP_CHOWN",
    "needs-cap-mknod": "needs CAP_MKNOD", "protected-hardlink": "another user's file",
    "read-only-subvolume": "the btrfs subvolume is read-only",
    "other-mount": "another mount", "other-subvolume": "another btrfs subvolume",
    "exclusive-but-exists": "exists",
    "not-a-file": "not a regular file", "no-program-format": "no program",
    "makes-no-files": "only the kernel makes files here",
    "too-many-interpreters": "too many interpreters",
    "other-formats": "perhaps a format of binfmt_misc",
    "not-entered": "another file system, not entered",
    "changed": "changed meanwhile", "landlock": "Landlock",
  ]

  /// Why access to a file is refused or unknown: `no permission for others`.
  package var refusal: String { whom.map { "no permission for \($0)" } ?? other }

  /// Why access is granted: `as others`, `by CAP_DAC_OVERRIDE`.
  package var grant: String { whom.map { "as \($0)" } ?? "by \(other)" }

  /// Why a folder is closed: `folder 2019 is closed to others`.
  package func closing(_ folder: String) -> String {
    whom.map { "\(folder) is closed to \($0)" } ?? "\(folder): \(other)"
  }

  /// Why names in or below a folder are refused: `below 2019: this folder is closed to others`.
  package func cause(_ folder: String, isSearch: Bool, isBelow: Bool) -> String {
    isSearch
      ? "below \(folder): \(closing("this folder"))"
      : "\(isBelow ? "below" : "in") \(folder): \(refusal)"
  }
}
