extension UserDatabase {
  /// The sources of users, by their names in nsswitch.conf(5), that may not list every user whom
  /// they know.
  ///
  /// Empty if the list of users is complete.
  package var unlistedSources: [String] {
    if isOfFiles { return [] }
    let listing: Set<Substring> = ["files", "compat", "db", "extrausers", "systemd"]
    return sources.filter { !listing.contains($0) && !($0 == "sss" && isListedBySSSD) }
      .map(String.init)
  }

  private func text(_ path: PathBytes) -> [Substring] {
    let bytes = (try? system.contents(of: path)) ?? []
    return String(decoding: bytes, as: UTF8.self).parts(by: "\n")
  }

  /// The sources in the line `passwd:` of nsswitch.conf(5), without the actions in brackets.
  private var sources: [Substring] {
    for line in text("/etc/nsswitch.conf") {
      let words = line.parts(by: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        .parts(byAny: " \t")
      guard words.first == "passwd:" else { continue }
      var isAction = false
      return words.dropFirst().filter { word in
        if word.first == "[" { isAction = true }
        defer { if word.last == "]" { isAction = false } }
        return !isAction
      }
    }
    // What glibc does without the file.
    return ["files"]
  }

  /// Whether every domain of sssd.conf(5) sets `enumerate`; root alone may read the file.
  private var isListedBySSSD: Bool {
    var (domains, listing) = (0, 0)
    for line in text("/etc/sssd/sssd.conf") {
      let words = line.lowercased().filter { $0 != " " && $0 != "\t" }
      if words.hasPrefix("[domain/") { domains += 1 }
      if words == "enumerate=true" { listing += 1 }
    }
    return domains > 0 && domains == listing
  }
}
