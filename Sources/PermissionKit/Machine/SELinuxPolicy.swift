/// The answers of the SELinux policy about two contexts, as the kernel gives them.
///
/// /sys/fs/selinux/access takes a source, a target and a class, and answers with the permissions that the
/// policy allows, see `sel_write_access()` in security/selinux/selinuxfs.c. Asking wants the permission
/// `compute_av`, which root has by default.
struct SELinuxPolicy {
  private static let folder: PathBytes = "/sys/fs/selinux"

  let system: any System

  /// Returns the permissions of a list that the policy does not allow; nil if it cannot be asked.
  ///
  /// In a permissive domain nothing is refused.
  func missing(
    _ source: String, _ target: String, _ kind: String, _ permissions: [String]
  ) -> [String]? {
    let folder = Self.folder.appending(PathBytes("class/\(kind)"))
    guard let number = number(folder.appending("index")),
      let answer = answer("\(source) \(target) \(number)")
    else { return nil }
    if answer.isPermissive { return [] }
    var missing: [String] = []
    for permission in permissions {
      // The first permission is 1, and bit 0 of the mask.
      guard let number = self.number(folder.appending(PathBytes("perms/\(permission)"))),
        1...32 ~= number
      else { return nil }
      if answer.allowed & 1 << (number - 1) == 0 { missing.append(permission) }
    }
    return missing
  }

  private func number(_ path: PathBytes) -> UInt32? {
    (try? system.line(of: path)).flatMap { UInt32($0.description) }
  }

  private func answer(_ question: String) -> (allowed: UInt32, isPermissive: Bool)? {
    guard
      let file = try? system.openat(
        .currentDirectory, Self.folder.appending("access"), .readWrite, mode: 0)
    else { return nil }
    defer { system.close(file) }
    let bytes = Array(question.utf8)
    // One write is one question.
    guard (try? system.write(file, bytes)) == bytes.count,
      let text = try? system.read(file, 256)
    else { return nil }
    return Self.answer(String(decoding: text, as: UTF8.self))
  }

  /// Reads `allowed decided auditallow auditdeny seqno flags`, all but seqno in hexadecimal.
  static func answer(_ text: String) -> (allowed: UInt32, isPermissive: Bool)? {
    let fields = text.parts(byAny: " \n\0")
    guard fields.count == 6, let allowed = UInt32(fields[0], radix: 16),
      let flags = UInt32(fields[5], radix: 16)
    else { return nil }
    // AVD_FLAGS_PERMISSIVE
    return (allowed, flags & 1 != 0)
  }
}
