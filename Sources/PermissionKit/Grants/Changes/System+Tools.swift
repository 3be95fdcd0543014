extension System {
  /// Runs a program and requires success.
  ///
  /// - Parameter arguments: The name of the program, then its arguments.
  /// - Throws: If the program cannot be started, or ends with a status other than 0.
  func complete(_ arguments: [PathBytes]) throws(PermissionError) {
    // The program may change what was read.
    defer { forget() }
    guard let program = program(arguments[0]) else {
      throw PermissionError(.changeFailed, "\(arguments[0]) is not installed", path: arguments[0])
    }
    let end: ProcessEnd
    do throws(Errno) {
      end = try run([program] + arguments.dropFirst())
    } catch {
      throw PermissionError(
        .changeFailed, "\(arguments[0]) cannot be run", path: arguments[0], call: "execvp",
        errno: error)
    }
    if end == .exited(0) { return }
    let how =
      switch end {
      case .exited(let status): "failed with status \(status)"
      case .signalled(let signal): "was ended by signal \(signal)"
      }
    throw PermissionError(
      .changeFailed, "\(arguments.map(\.description).joined(separator: " ")) \(how)")
  }

  /// Returns the path of a program of the system; nil if no folder of root's contains it.
  ///
  /// PATH may come from an unprivileged user, and a bare name may be found in the working directory. On NixOS
  /// the programs that become root are in a folder of their own.
  package func program(_ name: PathBytes) -> PathBytes? {
    let folders: [PathBytes] = [
      "/run/wrappers/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin",
    ]
    return folders.map { $0.appending(name) }.first { (try? kind(of: $0)) == .regular }
  }
}
