internal import CCap

/// The sysctls by which the kernel refuses O_CREAT on files and FIFOs of others in sticky folders.
struct StickyProtection: Sendable {
  private let regular: Int
  private let fifos: Int

  /// Reads fs.protected_regular and fs.protected_fifos; what cannot be read protects nothing.
  init(_ system: LinuxSystem) {
    func value(_ name: String) -> Int {
      (try? system.line(of: PathBytes("/proc/sys/fs/\(name)"))).flatMap { Int($0.description) } ?? 0
    }
    (regular, fifos) = (value("protected_regular"), value("protected_fifos"))
  }

  /// Returns whether nobody but the owner opens a file with O_CREAT: may_create_in_sticky() of fs/namei.c.
  func protects(_ kind: FileKind?, of uid: UInt32, in folder: StatusFields) -> Bool {
    let level: Int
    switch kind {
    case .regular: level = regular
    case .fifo: level = fifos
    // No sysctl lifts the protection of devices.
    case .characterDevice, .blockDevice: level = 1
    case .directory, .symbolicLink, .socket, nil: return false
    }
    guard level > 0, folder.mode & 0o1000 != 0, uid != folder.uid else { return false }
    return folder.mode & 0o002 != 0 || folder.mode & 0o020 != 0 && level > 1
  }
}

extension TreeWorker {
  /// Counts the files in an open folder that the subject may write, and not open with O_CREAT.
  func countProtected(in folder: Descriptor) {
    // Where the user who is judged reaches nothing, nothing is granted.
    guard levels.last?.blocker == nil, let protection = walk.protection, let subject = writer,
      let status = try? system.statx(folder), status.mode & 0o1000 != 0, status.mode & 0o022 != 0
    else { return }
    do throws(Errno) {
      let listing = try system.openat(folder, ".", [.directory], mode: 0)
      defer { system.close(listing) }
      var count = 0
      for name in try system.getdents(listing) {
        guard let file = try? system.openat(folder, name, [.path, .noFollow], mode: 0) else {
          continue
        }
        defer { system.close(file) }
        let found = try system.statx(file)
        let isProtected =
          found.uid != subject && (found.kind == .regular || !walk.question.isOfContents)
          && protection.protects(found.kind, of: found.uid, in: status)
        if isProtected, mayWrite(file, found) { count += 1 }
      }
      walk.count(protected: count)
    } catch {
      // The walk itself reports what cannot be listed.
    }
  }

  /// The user who would write; nil if nobody is asked for, or many are counted.
  private var writer: UInt32? {
    switch asker {
    case .kernel: (walk.question.identity ?? (try? system.credentials()))?.user.fileSystem
    case .judge(let judge): judge.subject.user.fileSystem
    case .census, .visitor: nil
    }
  }

  private func mayWrite(_ file: Descriptor, _ status: StatusFields) -> Bool {
    guard case .judge(let judge) = asker, !walk.question.asksKernel else {
      return walk.question.needs(on: status.kind).allSatisfy {
        unsafe ccap_ask_at(file.rawValue, "", Int32($0.rawValue)) == 0
      }
    }
    return judge.verdict(judge.key(file, status)).need.isGranted
  }
}
