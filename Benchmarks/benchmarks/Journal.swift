import Foundation
@_spi(SystemCalls) import PermissionKit

// MARK: - The journal of grants

/// CPU time of this process in seconds.
private func cpuSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

/// Measures a call on a journal that grew for years, and on one with many open grants.
func journals() throws {
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "permissionkit-journal-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  let album = folder.appending(path: "album")
  try FileManager.default.createDirectory(at: album, withIntermediateDirectories: true)
  try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: album.path)
  try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
  let file = folder.appending(path: "grants.jsonl")
  let journal = GrantJournal(PathBytes(file.path))

  func cycle(_ uid: UInt32) throws {
    let subject = try UserDatabase(LinuxSystem()).subject(.ids(uid: uid, gid: uid, groups: []))
    var context = AccessContext(subject: subject)
    context.path = PathBytes(album.path)
    let accessor = PhotoLibraryAccessor(context, analytics: .discard)
    let outcome = try journal.carryOut { (journaled) throws(PermissionError) in
      try accessor.grantPlan(journaled)?.grants() ?? []
    }
    precondition(outcome.grants.count == 1)
    _ = try journal.undo(of: uid) { _ in true }
  }

  try cycle(54_331)
  let sample = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
  // A cycle as permcheck wrote it, and its first lines as an open grant.
  func lines(_ number: Int, isOpen: Bool) -> String {
    let own = sample.map { line in
      line.replacingOccurrences(of: "\"id\":\"", with: "\"id\":\"\(number)-")
        // Each open grant is of another inode; 9 digits are a number that no inode here has.
        .replacingOccurrences(
          of: "\"inode\":[0-9]+", with: "\"inode\":\(number + (isOpen ? 900_000_000 : 0))",
          options: .regularExpression
        )
        .replacingOccurrences(of: "\"acl\":\"", with: "\"acl\":\"\(number)-")
        .replacingOccurrences(of: "\"ids\":[\"", with: "\"ids\":[\"\(number)-")
        .replacingOccurrences(of: "\"request\":\"", with: "\"request\":\"\(number)-")
    }
    return (isOpen ? Array(own.prefix(4)) : own).joined(separator: "\n") + "\n"
  }
  for (name, count, isOpen) in [
    ("100,000 closed cycles", 100_000, false), ("10,000 open grants", 10_000, true),
  ] {
    var text = ""
    for number in 0..<count { text += lines(number, isOpen: isOpen) }
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    var times: [Double] = []
    for round in 0..<6 {
      let start = cpuSeconds()
      try cycle(60_000 + UInt32(round))
      // Two calls: a request and a revocation.
      times.append((cpuSeconds() - start) / 2)
    }
    print(
      "journal: \(name): \(rounded(times[0], 3)) s of CPU for the first call, \(rounded(median(Array(times.dropFirst())), 3)) s for each later one"
    )
  }
}
