import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// A file that a command reads; `-` is standard input.
struct Input {
  let path: PathBytes

  init(_ path: PathBytes) { self.path = path }

  /// Its name, for people.
  var name: String { path == "-" ? "standard input" : Sanitizer.clean(path.description) }

  /// Returns the whole contents.
  ///
  /// - Throws: A usage error if it cannot be read.
  func bytes(_ system: any System) throws -> [UInt8] {
    do throws(Errno) {
      if path == "-" { return try contents(.standardInput, system) }
      let file = try system.openat(.currentDirectory, path, [.readOnly], mode: 0)
      defer { system.close(file) }
      return try contents(file, system)
    } catch {
      throw ValidationError("\(name) cannot be read (\(error))")
    }
  }

  /// Returns the whole contents of a file, which may be a pipe that a program still writes to.
  private func contents(
    _ file: Descriptor, _ system: any System
  ) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      do throws(Errno) {
        let part = try system.read(file, 1 << 16)
        if part.isEmpty { return bytes }
        bytes += part
      } catch .EAGAIN {
        _ = try system.poll([PollRequest(file, .readable)], timeout: nil)
      }
      if bytes.count > 1 << 28 { throw .EFBIG }
    }
  }
}
