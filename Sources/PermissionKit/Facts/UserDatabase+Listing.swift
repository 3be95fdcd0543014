extension UserDatabase {
  /// The sources of users, by their names in nsswitch.conf(5), that may not list every user whom
  /// they know.
  ///
  /// Empty if the list of users is complete.
  package var unlistedSources: [String] {
    if isOfFiles { return [] }
    let listing: Set<String> = ["files", "compat", "db", "extrausers", "systemd"]
    let others = (try? system.userSources())?.users.others ?? []
    return others.filter { !listing.contains($0) && !($0 == "sss" && isListedBySSSD) }
  }

  /// Whether every domain of sssd.conf(5) sets `enumerate`; root alone may read the file.
  private var isListedBySSSD: Bool {
    let bytes = (try? system.contents(of: "/etc/sssd/sssd.conf")) ?? []
    var (domains, listing) = (0, 0)
    for line in String(decoding: bytes, as: UTF8.self).parts(by: "\n") {
      let words = line.lowercased().filter { $0 != " " && $0 != "\t" }
      if words.hasPrefix("[domain/") { domains += 1 }
      if words == "enumerate=true" { listing += 1 }
    }
    return domains > 0 && domains == listing
  }
}
