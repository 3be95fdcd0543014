@_spi(SystemCalls) public import PermissionKit

/// The files that declare accessors, in folders of which later ones override earlier ones.
///
/// A file that cannot be read or has a mistake declares nothing and is reported; the other files
/// are used.
public struct DeclarationFiles: Sendable {
  /// A problem that prevents a file from declaring an accessor.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The file, or the folder.
    public let path: PathBytes
    /// The line, from 1; nil if the file could not be read.
    public let line: Int?
    /// The column in characters, from 1; nil if the file could not be read.
    public let column: Int?
    /// The mistake, for people.
    public let message: String

    /// `FILE:LINE:COLUMN: message`, safe for a terminal.
    public var description: String {
      let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
      return "\(Sanitizer.clean(path.description))\(place): \(message)"
    }
  }

  /// The folders; later ones take precedence.
  public let folders: [PathBytes]
  /// Whether files that other users can change are used.
  private let allowsOthers: Bool
  private let system: any System

  /// The most bytes of a file.
  static let mostBytes = 1 << 16
  /// The most files of a folder, and the most bytes of all of them together.
  static let (mostFiles, mostBytesInAll) = (256, 1 << 20)
  /// The time in which a file is read where nothing keeps it waiting, and the most time of all that take longer, in
  /// microseconds.
  private static let (usual, mostTime): (Int64, Int64) = (100_000, 1_000_000)

  /// The limits that all files of a folder share.
  private struct Rest {
    var bytes = mostBytesInAll
    var time = mostTime
    var files = 0
    var reader: (any System)?
  }

  /// Creates a reader, without reading anything yet.
  ///
  /// - Parameters:
  ///   - system: The system whose files are read.
  ///   - folders: The folders; nil for the usual ones: `/usr/share/permcheck/accessors.d`,
  ///     `/usr/local/share/permcheck/accessors.d`, `/etc/permcheck/accessors.d` and
  ///     `$XDG_CONFIG_HOME/permcheck/accessors.d`; in a set-user-ID program the first three, and of
  ///     these the files that root alone can change.
  public init(_ system: any System, folders: [PathBytes]? = nil) {
    self.system = system
    self.folders = folders ?? Self.usualFolders(system)
    allowsOthers = folders != nil || !LinuxSystem.hasForeignCaller
  }

  /// Creates a reader for permcheck-helper, of the files that only root can change.
  ///
  /// It opens no other file and ignores the environment.
  package init(
    ofRoot system: any System,
    folders: [PathBytes] = rootFolders.map { $0.appending("permcheck/accessors.d") }
  ) {
    self.system = system
    self.folders = folders
    allowsOthers = false
  }

  /// The folders that hold `permcheck/accessors.d` for every user.
  private static let rootFolders: [PathBytes] = ["/usr/share", "/usr/local/share", "/etc"]

  private static func usualFolders(_ system: any System) -> [PathBytes] {
    var folders = rootFolders
    // A relative path counts for nothing, see the XDG Base Directory Specification.
    if let config = system.getenv("XDG_CONFIG_HOME"), config.isAbsolute {
      folders.append(config)
    } else if let home = system.getenv("HOME"), home.isAbsolute {
      folders.append(home.appending(".config"))
    }
    return folders.map { $0.appending("permcheck/accessors.d") }
  }

  /// Reads the files and adds their accessors.
  ///
  /// - Parameter base: The accessors that there are without files. Those that are built in stay.
  /// - Returns: The accessors, and the problems in the order of the files.
  public func registry(
    over base: AccessorRegistry = .shipped
  ) -> (registry: AccessorRegistry, problems: [Problem]) {
    var (registry, problems) = (base, [Problem]())
    let isRoot = system.isRoot
    for folder in folders {
      // The names of this folder, each with its file.
      var seen: [String: PathBytes] = [:]
      var left = Rest()
      for path in files(in: folder, &problems) {
        guard allowsOthers || system.isWritableOnlyByRoot(path),
          let reader = read(path, &left, &problems), var declaration = reader.declaration
        else {
          forget(path, &registry)
          continue
        }
        // An open or a connection can do something, and root makes none because another user says so.
        if isRoot, declaration.isProbed, !system.isWritableOnlyByRoot(path) {
          declaration.probe = .none
        }
        var mistakes = registry.clashes(of: declaration)
        if let first = seen[declaration.name] {
          mistakes.append(
            AccessorDeclaration.Mistake(
              key: "name", index: nil,
              message: "\"\(declaration.name)\" is already declared by \(first.lastComponent)"))
        }
        for mistake in mistakes {
          let place = reader.place(of: mistake)
          problems.append(
            Problem(
              path: path, line: place.line, column: place.column,
              message: "\(mistake.key): \(Sanitizer.clean(mistake.message))"))
        }
        guard mistakes.isEmpty else {
          forget(path, &registry)
          continue
        }
        do throws(PermissionError) {
          try registry.add(declaration, origin: .file(path))
          seen[declaration.name] = path
        } catch {
          problems.append(
            Problem(path: path, line: nil, column: nil, message: error.description))
        }
      }
    }
    return (registry, problems)
  }

  /// Removes, for permcheck-helper, the accessor that a faulty file of root's folder is named
  /// after.
  ///
  /// The file may be meant to restrict that accessor. In a folder that others can change, files are
  /// ignored.
  private func forget(_ path: PathBytes, _ registry: inout AccessorRegistry) {
    guard !allowsOthers, system.isWritableOnlyByRoot(path.parent, .directory) else { return }
    let file = path.lastComponent.description.dropLast(5)
    registry = registry.filter { entry in
      entry.origin == .builtIn || file != entry.name && !file.hasSuffix("-\(entry.name)")
    }
  }

  /// Returns the files of a folder, in order; none if there is no such folder.
  private func files(in folder: PathBytes, _ problems: inout [Problem]) -> [PathBytes] {
    do throws(Errno) {
      guard let examiner = system.examiner(of: folder) else { throw .ETIMEDOUT }
      _ = try examiner.status(of: folder)
      let names = try reader(of: folder).names(in: folder) {
        !$0.hasPrefix(".") && $0.bytes.suffix(5).elementsEqual(".toml".utf8)
      }
      if names.count > Self.mostFiles {
        problems.append(
          Problem(
            path: folder, line: nil, column: nil,
            message: "more than \(Self.mostFiles) files; only the first are used"))
      }
      return names.prefix(Self.mostFiles).map(folder.appending)
    } catch .ENOENT {
    } catch .ENOTDIR {
    } catch .EACCES where !canReachParent(of: folder) {
      // HOME is somebody else's, as after setpriv(1).
    } catch {
      problems.append(
        Problem(path: folder, line: nil, column: nil, message: "cannot be listed (\(error))"))
    }
    return []
  }

  /// Returns what reads the files of a folder: the door, where others than root can change them.
  private func reader(of folder: PathBytes) -> any System {
    system.isWritableOnlyByRoot(folder, .directory)
      ? system : system.door(toOwn: folder.appending("file"))
  }

  private func canReachParent(of folder: PathBytes) -> Bool {
    do throws(Errno) {
      _ = try system.status(of: folder.parent)
      return true
    } catch {
      return error != .EACCES
    }
  }

  private func read(
    _ path: PathBytes, _ left: inout Rest, _ problems: inout [Problem]
  ) -> DeclarationReader? {
    do throws(Errno) {
      guard left.time > 0, system.availability(of: path) == .immediate else { throw .ETIMEDOUT }
      let start = system.monotonic()
      defer {
        let took = system.monotonic() - start
        if took > Self.usual { left.time -= took }
      }
      // One reader for some files, which share its time.
      if left.files % 32 == 0 { left.reader = reader(of: path.parent) }
      left.files += 1
      let bytes = try (left.reader ?? system).contents(of: path, limit: Self.mostBytes)
      guard bytes.count <= left.bytes else { throw .ENOSPC }
      left.bytes -= bytes.count
      let reader = DeclarationReader(bytes)
      problems += reader.mistakes.map { mistake in
        Problem(
          path: path, line: mistake.place.line, column: mistake.place.column,
          message: mistake.message)
      }
      return reader
    } catch {
      let message =
        switch error {
        case .EINVAL: "not a regular file"
        case .EFBIG: "larger than \(Self.mostBytes) bytes"
        case .ENOSPC: "left out, because the folder has more than \(Self.mostBytesInAll) bytes"
        default: "cannot be read (\(error))"
        }
      problems.append(Problem(path: path, line: nil, column: nil, message: message))
      return nil
    }
  }
}
