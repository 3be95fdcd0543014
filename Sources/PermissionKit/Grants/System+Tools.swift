extension System {
  /// Runs a program that must succeed.
  ///
  /// - Throws: Where it cannot be started, or ends with another status than 0.
  func complete(_ arguments: [PathBytes]) throws(PermissionError) {
    let end: ProcessEnd
    do throws(Errno) {
      end = try run([program(arguments[0])] + arguments.dropFirst())
    } catch {
      throw PermissionError(
        .changeFailed, "\(arguments[0]) cannot be run", path: arguments[0], call: "posix_spawn",
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

  /// Where a tool of the system is; its name alone when it is in none of the usual places.
  ///
  /// As root PATH may be that of whoever asked, and is not to say what is run.
  func program(_ name: PathBytes) -> PathBytes {
    let folders: [PathBytes] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return folders.map { $0.appending(name) }.first { (try? kind(of: $0)) == .regular } ?? name
  }
}
