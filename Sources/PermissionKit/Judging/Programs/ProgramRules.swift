/// The rules of programs on owners and modes: data, each with its source.
///
/// The generated table of the guide is made of it, and a test asks the real programs.
package enum ProgramRules {
  static let all: [ProgramRule] = [
    ProgramRule(
      program: "ssh",
      places: ["~/.ssh/id_*", "/etc/ssh/ssh_host_*_key", "=-----BEGIN OPENSSH PRIVATE KEY-----"],
      owner: .anyone, forbidden: 0o077, isOfOwnFiles: true, noun: "a private key",
      effect: "does not use the key", instead: copy,
      source: "ssh(1), FILES; sshkey_perm_ok() of authfile.c"),
    ProgramRule(
      program: "ssh", places: ["~/.ssh/config"], owner: .userOrRoot, forbidden: 0o022,
      trustsPrivateGroup: true, effect: "ends with \"Bad owner or permissions\"", instead: copy,
      source: "ssh_config(5), FILES; read_config_file_depth() of readconf.c"),
    ProgramRule(
      program: "sshd", places: ["~/.ssh/authorized_keys", "~/.ssh/authorized_keys2"],
      owner: .userOrRoot, forbidden: 0o022, trustsPrivateGroup: true,
      exception: .init(
        files: ["/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d"], line: "strictmodes no"),
      above: .home, effect: "accepts no keys from authorized_keys, unless StrictModes is off",
      instead: "a folder for both that is outside of the home",
      source: "sshd_config(5), StrictModes; safe_path() of misc.c"),
    ProgramRule(
      program: "sshd", places: ["/etc/ssh/ssh_host_*_key"], owner: .anyone, forbidden: 0o077,
      isOfOwnFiles: true, effect: "does not load the host key", instead: copy,
      source: "sshd(8), FILES; sshkey_perm_ok() of authfile.c"),
    ProgramRule(
      program: "sudo", places: ["/etc/sudoers", "/etc/sudoers.d/*"], owner: .root,
      forbidden: 0o022, trustsRootGroup: true, runsAsRoot: true, above: .folder,
      effect: "does not read the file",
      source: "sudoers(5); sudo_check_secure() of secure_path.c"),
    ProgramRule(
      program: "cron", places: ["/etc/crontab", "/etc/cron.d/*"], owner: .root, forbidden: 0o022,
      runsAsRoot: true, effect: "runs none of its lines",
      source: "cron(8); process_crontab() of database.c"),
    ProgramRule(
      program: "cron", places: ["/var/spool/cron/crontabs/*"], owner: .userOrRoot,
      forbidden: 0, only: 0o600, runsAsRoot: true, isNamedAfterUser: true,
      effect: "runs none of its lines",
      instead: "crontab -l, by the user himself", source: "cron(8); process_crontab() of database.c"
    ),
    ProgramRule(
      program: "logrotate", places: ["/var/log/*", "/var/log/*/*"], owner: .anyone, forbidden: 0,
      forbiddenAbove: 0o022, trustsRootGroup: true, runsAsRoot: true, noun: "a log",
      exception: .init(files: ["/etc/logrotate.conf", "/etc/logrotate.d"], line: "su "),
      above: .folder, effect: "does not rotate the log, unless the line \"su\" names a user",
      instead: "entries on the logs alone, or a group and the line \"su\" of logrotate(8)",
      source: "logrotate(8), su; prerotateSingleLog() of logrotate.c"),
    ProgramRule(
      program: "logrotate", places: ["/etc/logrotate.conf", "/etc/logrotate.d/*"], owner: .root,
      forbidden: 0o022, runsAsRoot: true, effect: "ignores the file",
      source: "logrotate(8); readConfigFile() of config.c"),
    ProgramRule(
      program: "git", places: ["~/.git"], owner: .user, isOfFolder: true, forbidden: 0,
      isOfCaller: true,
      exception: .init(
        files: ["/etc/gitconfig", "~/.gitconfig", "~/.config/git/config"], line: "[safe]"),
      above: .folder,
      effect: "ends with \"detected dubious ownership\", unless safe.directory names it",
      source: "git-config(1), safe.directory; ensure_valid_ownership() of setup.c"),
    ProgramRule(
      program: "postgres",
      places: ["/var/lib/postgresql/#/*", "/var/lib/pgsql/data", "/var/lib/pgsql/*/data"],
      owner: .user, isOfFolder: true, forbidden: 0o027, noun: "a data folder",
      effect: "does not start",
      instead: "pg_basebackup, or initdb --allow-group-access and a group that may read",
      source: "postgres(1); checkDataDir() of miscinit.c"),
    ProgramRule(
      program: "postgres",
      places: ["/var/lib/postgresql/#/*/server.key", "/etc/ssl/private/*.key"],
      owner: .userOrRoot, forbidden: 0o077, forbiddenOfRoot: 0o037, noun: "a private key",
      effect: "does not start with ssl", instead: copy,
      source: "PostgreSQL, Secure TCP/IP Connections; check_ssl_key_file_permissions()"),
    ProgramRule(
      program: "psql", places: ["~/.pgpass"], owner: .anyone, forbidden: 0o077,
      noun: "a password file", effect: "ignores the file", instead: copy,
      source: "PostgreSQL, The Password File; passwordFromFile() of fe-connect.c"),
    ProgramRule(
      program: "netrc", places: ["~/.netrc"], owner: .user, forbidden: 0o077,
      noun: "a netrc file", effect: "refuses it, in Python and for ftp", instead: copy,
      source: "netrc(5); netrc._security_check() of netrc.py"),
    ProgramRule(
      program: "gpg", places: ["~/.gnupg"], owner: .user, isOfFolder: true, forbidden: 0o077,
      noun: "a home of gpg", onlyWarns: true, effect: "warns of unsafe permissions",
      source: "gpg(1), --no-permission-warning"),
    ProgramRule(
      program: "msmtp", places: ["~/.msmtprc"], owner: .user, forbidden: 0o177,
      exemptsRoot: true, noun: "settings of msmtp", effect: "ends, if there is a password in it",
      instead: copy,
      source: "msmtp(1), Configuration files"),
    ProgramRule(
      program: "fetchmail", places: ["~/.fetchmailrc"], owner: .user, forbidden: 0o067,
      noun: "settings of fetchmail", effect: "ends", instead: copy,
      source: "fetchmail(1), The run control file"),
  ]

  private static let copy = "a copy that belongs to the other user"

  /// Returns the rule of a program about a file: that of its place, or else the one for such a file anywhere.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - paths: The path as it was given, and the real one.
  ///   - kind: The kind of the file.
  ///   - isKey: Returns whether the contents are a private key.
  /// - Returns: The rule, the path that shows it, and the kind of file if only the question shows it; nil if there is none.
  static func rule(
    of program: String, _ paths: [PathBytes], _ kind: FileKind, isKey: (ProgramRule) -> Bool
  ) -> (rule: ProgramRule, path: PathBytes?, noun: String?)? {
    guard kind == .regular || kind == .directory else { return nil }
    let rules = all.filter { $0.program == program }
    for path in paths {
      if let rule = rules.first(where: { $0.home(of: path) != nil }) { return (rule, path, nil) }
    }
    let others: [[UInt8]] = [Array(".pub".utf8), Array(".conf".utf8)]
    let isOther = others.contains { end in
      paths.contains { $0.bytes.suffix(end.count).elementsEqual(end) }
    }
    let other = rules.first { $0.noun != nil && $0.isOfFolder == (kind == .directory) }
    guard !isOther, let other, other.firstLine == nil || isKey(other) else { return nil }
    return (other, nil, other.noun)
  }

  /// The programs, in the order of the table.
  package static let programs: [String] = all.reduce(into: []) { names, rule in
    if names.last != rule.program, !names.contains(rule.program) { names.append(rule.program) }
  }

  /// The rows of Documentation/programs.md.
  package static var rows: [[String]] {
    func octal(_ bits: UInt16) -> String {
      let digits = String(bits, radix: 8)
      return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
    return all.map { rule in
      let places = rule.places.map { place in
        place.hasPrefix("=") ? "what begins with `\(place.dropFirst())`" : "`\(place)`"
      }
      var bits =
        rule.only.map { "be other than \(octal($0))" } ?? "have of \(octal(rule.forbidden))"
      if rule.forbidden == 0, rule.only == nil { bits = "" }
      if let root = rule.forbiddenOfRoot { bits += "; root's file \(octal(root))" }
      let folders = octal(rule.forbiddenAbove ?? rule.forbidden)
      switch rule.above {
      case .none: break
      case .folder where rule.forbidden == 0 && rule.forbiddenAbove == nil: break
      case .folder: bits += (bits.isEmpty ? "" : "; ") + "its folder \(folders)"
      case .home: bits += "; the folders up to the home \(folders)"
      }
      if rule.trustsRootGroup { bits += "; root's group may" }
      if rule.trustsPrivateGroup { bits += "; on Debian a group of one user may" }
      if rule.isOfOwnFiles { bits += "; files of others do not count" }
      let owner =
        switch rule.owner {
        case .anyone: "anyone"
        case .user: "the user"
        case .userOrRoot: "the user or root"
        case .root: "root"
        }
      return [
        "`\(rule.program)`", places.joined(separator: ", "), bits, owner, rule.effect, rule.source,
      ]
    }
  }
}
