extension System {
  /// Runs a program and requires success.
  ///
  /// - Parameter arguments: The name of the program, then its arguments.
  /// - Throws: If the program cannot be started, or ends with a status other than 0.
  func complete(_ arguments: [PathBytes]) throws(PermissionError) {
    // The program may change what was read.
    defer { forget() }
    let end: ProcessEnd
    do throws(Errno) {
      end = try run([program(arguments[0])] + arguments.dropFirst())
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

  /// Returns the full path of a system program; the bare name if no standard folder contains it.
  ///
  /// Root must not search PATH, which may come from an unprivileged user.
  package func program(_ name: PathBytes) -> PathBytes {
    let folders: [PathBytes] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return folders.map { $0.appending(name) }.first { (try? kind(of: $0)) == .regular } ?? name
  }
}
