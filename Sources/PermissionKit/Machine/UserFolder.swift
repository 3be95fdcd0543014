/// Finds a folder of a user, such as that of the pictures, by the rules of xdg-user-dirs.
///
/// See user-dirs.dirs(5): the file is $XDG_CONFIG_HOME/user-dirs.dirs. A value is `"$HOME/path"` or
/// `"/path"` in double quotes, with the backslash escapes of a shell.
package struct UserFolder: Sendable {
  /// A key of user-dirs.dirs(5).
  package enum Key: String, CaseIterable {
    case desktop = "DESKTOP"
    case documents = "DOCUMENTS"
    case download = "DOWNLOAD"
    case music = "MUSIC"
    case pictures = "PICTURES"
    case publicShare = "PUBLICSHARE"
    case templates = "TEMPLATES"
    case videos = "VIDEOS"

    /// The folder without that file, and the word for people.
    fileprivate var names: (folder: PathBytes, noun: String) {
      switch self {
      case .desktop: ("Desktop", "desktop folder")
      case .documents: ("Documents", "document folder")
      case .download: ("Downloads", "download folder")
      case .music: ("Music", "music folder")
      case .pictures: ("Pictures", "picture folder")
      case .publicShare: ("Public", "public folder")
      case .templates: ("Templates", "template folder")
      case .videos: ("Videos", "video folder")
      }
    }
  }

  enum Location: Hashable, Sendable {
    case folder(PathBytes, evidence: String)
    /// The setting is the home directory itself, which means "no such folder" in xdg-user-dirs.
    case notConfigured(evidence: String)
    /// The check cannot determine it.
    case unknown(Reason)
  }

  private let system: any System
  private let root: PathBytes
  private let key: String
  /// The name of the folder where nothing is configured.
  let name: PathBytes
  /// The word for people: `picture folder`.
  let noun: String

  /// Creates a search for the folder of a key; a key that `Key` lacks has a folder of its own name.
  init(_ key: String, _ system: any System, root: PathBytes) {
    self.system = system
    self.root = root
    self.key = key
    let known = Key(rawValue: key)?.names
    name = known?.folder ?? PathBytes(key)
    noun = known?.noun ?? "folder \(key)"
  }

  private func below(_ path: PathBytes) -> PathBytes { path.below(root) }

  /// Returns the path of the user's user-dirs.dirs, which may not exist; nil if no home is known.
  func file(for subject: Subject) -> PathBytes? {
    guard let home = subject.home, home.isAbsolute else { return nil }
    var config = below(home).appending(".config")
    if subject.source == .current, let set = system.getenv("XDG_CONFIG_HOME"), set.isAbsolute {
      config = below(set)
    }
    return config.appending("user-dirs.dirs")
  }

  func locate(for subject: Subject) -> Location {
    guard let home = subject.home, let file = file(for: subject) else {
      var reason = Reason(
        .notConfigured, .proven, "the home directory of \(subject.displayName) is unknown")
      reason.ownAdvice = "set HOME, or name the folder"
      return .unknown(reason)
    }
    if let reason = system.availability(of: file).reason { return .unknown(reason) }
    let realHome = below(home)
    let fallback = Location.folder(realHome.appending(name), evidence: "the default")
    do throws(Errno) {
      let bytes = try contents(of: file, for: subject)
      switch Self.setting(of: key, in: bytes) {
      case .none: return fallback
      case .value(let line, let isRelative, let path):
        let folder = isRelative ? below(home.appendingTail(path)) : below(path)
        let evidence = "\(file), line \(line)"
        if isSame(folder, realHome) { return .notConfigured(evidence: evidence) }
        return .folder(folder, evidence: evidence)
      case .malformed(let line):
        return .unknown(
          Reason(
            .notConfigured, .proven,
            "line \(line) of \(file) is malformed, so the \(noun) is unknown",
            evidence: ["expected XDG_\(key)_DIR=\"$HOME/…\" or \"/…\""]))
      }
    } catch .ENOENT {
      return fallback
    } catch .ENOTDIR {
      return fallback
    } catch .ETIMEDOUT {
      return .unknown(
        Reason(
          .notAnswering, .proven,
          "\(file) did not answer within \(PathAvailability.limit / 1000) s, so the \(noun) of \(subject.displayName) is unknown"
        ))
    } catch {
      return .unknown(
        Reason(
          .unreadableFacts, .proven,
          "\(file) cannot be read, so the \(noun) of \(subject.displayName) is unknown",
          evidence: ["open: \(error)"]))
    }
  }

  /// Reads the user's file.
  private func contents(of file: PathBytes, for subject: Subject) throws(Errno) -> [UInt8] {
    // Most users have none, and nobody needs to be asked for that.
    if root == "/" {
      guard let examiner = system.examiner(of: file) else { throw .ETIMEDOUT }
      _ = try examiner.status(of: file)
    }
    return try system.door(to: file, of: subject, below: root).contents(of: file, limit: 1 << 16)
  }

  /// Returns whether both paths lead to the same folder.
  private func isSame(_ folder: PathBytes, _ home: PathBytes) -> Bool {
    if folder.withoutTrailingSlashes == home.withoutTrailingSlashes { return true }
    let system = system.machine(below: root)
    guard let one = try? system.examiner(of: folder)?.status(of: folder),
      let other = try? system.examiner(of: home)?.status(of: home)
    else {
      return false
    }
    return (one.mount, one.inode) == (other.mount, other.inode)
      && one.fileSystem == other.fileSystem
  }

  // MARK: - The file

  enum Setting: Hashable {
    case none
    case value(line: Int, isRelative: Bool, PathBytes)
    case malformed(line: Int)
  }

  /// Finds XDG_KEY_DIR in the bytes of a user-dirs.dirs; the last setting counts.
  ///
  /// - Returns: `malformed` if the last setting is wrong, or if the file has no setting and some
  ///   line is neither blank, nor a comment, nor an assignment.
  static func setting(of key: String, in bytes: [UInt8]) -> Setting {
    let wanted = Array("XDG_\(key)_DIR".utf8)
    var setting = Setting.none
    var garbage: Int?
    for (index, line) in bytes.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    )
    .enumerated() {
      let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      if text.isEmpty || text.first == UInt8(ascii: "#") { continue }
      let name = text.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: " ") }
      guard name.starts(with: "XDG_".utf8), name.suffix(4).elementsEqual("_DIR".utf8) else {
        garbage = garbage ?? index + 1
        continue
      }
      guard name.elementsEqual(wanted) else { continue }
      let value = text.dropFirst(name.count).drop {
        $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")
      }
      guard value.first == UInt8(ascii: "="), let (isRelative, path) = unquote(value.dropFirst())
      else {
        setting = .malformed(line: index + 1)
        continue
      }
      setting = .value(line: index + 1, isRelative: isRelative, path)
    }
    if setting == .none, let garbage { return .malformed(line: garbage) }
    return setting
  }

  private static func unquote(_ bytes: ArraySlice<UInt8>) -> (Bool, PathBytes)? {
    var rest = bytes.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
    let isRelative = rest.starts(with: "$HOME".utf8)
    if isRelative { rest = rest.dropFirst(5) }
    guard rest.first == UInt8(ascii: "/") || isRelative && rest.first == UInt8(ascii: "\"") else {
      return nil
    }
    var path: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        // Only blanks and a comment may follow.
        let tail = rest.drop {
          $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
        }
        guard tail.isEmpty || tail.first == UInt8(ascii: "#"), !path.contains(0) else { return nil }
        return (isRelative, PathBytes(path))
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { return nil }
        path.append(escaped)
      default: path.append(byte)
      }
    }
    return nil
  }
}

extension PathBytes {
  /// Returns this path followed by `tail`, which is empty or starts with a slash.
  fileprivate func appendingTail(_ tail: PathBytes) -> PathBytes {
    PathBytes(withoutTrailingSlashes.bytes + tail.bytes)
  }
}
