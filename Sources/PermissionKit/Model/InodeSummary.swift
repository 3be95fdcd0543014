/// The part of an inode that ls(1) and getfacl(1) show: file type, mode, ids and ACL.
public struct InodeSummary: Hashable, Sendable {
  /// The file type.
  public let kind: FileKind
  /// The permission, set-id and sticky bits, 07777.
  public let mode: UInt16
  /// The owner's uid.
  public let uid: UInt32
  /// The owning group's gid.
  public let gid: UInt32
  /// The access ACL; nil if the mode is all there is.
  public let acl: AccessControlList?

  /// The mode as ls(1) prints it: `crw-rw----`, followed by `+` if there is an ACL.
  public var modeText: String {
    let type =
      switch kind {
      case .directory: "d"
      case .regular: "-"
      case .symbolicLink: "l"
      case .characterDevice: "c"
      case .blockDevice: "b"
      case .fifo: "p"
      case .socket: "s"
      }
    func triplet(_ shift: UInt16, _ special: UInt16, _ letter: String) -> String {
      let bits = Permissions(rawValue: UInt8(mode >> shift & 7))
      guard mode & special != 0 else { return bits.description }
      let last = bits.contains(.execute) ? letter : letter.uppercased()
      return String(bits.description.dropLast()) + last
    }
    return type + triplet(6, 0o4000, "s") + triplet(3, 0o2000, "s") + triplet(0, 0o1000, "t")
      + (acl == nil ? "" : "+")
  }
}
