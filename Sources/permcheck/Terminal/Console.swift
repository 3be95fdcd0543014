@_spi(SystemCalls) import PermissionKit

/// The standard output and standard error of the tool.
final class Console {
  let style: Style
  /// The style of standard error.
  let errorStyle: Style
  private let system: any System
  private let isQuiet: Bool
  /// The file that is written instead of standard output; nil for standard output.
  private let file: PathBytes?
  private var output: [UInt8] = []

  init(
    _ system: any System, color: Style.Color = .auto, isQuiet: Bool = false,
    file: PathBytes? = nil
  ) {
    self.system = system
    self.isQuiet = isQuiet
    self.file = file
    func style(_ file: Descriptor, isWritten: Bool = false) -> Style {
      let isTerminal = !isWritten && system.isatty(file)
      let colors =
        switch color {
        case .always: true
        case .never: false
        case .auto: Self.wantsColors(system, isTerminal: isTerminal)
        }
      return Style(
        colors: colors, isUnicode: Self.isUnicode(system),
        columns: isTerminal ? system.columns(file) : nil)
    }
    self.style = style(.standardOutput, isWritten: file != nil)
    errorStyle = style(.standardError)
  }

  /// Returns whether to use colours, by no-color.org, force-color.org and the type of the terminal.
  private static func wantsColors(_ system: any System, isTerminal: Bool) -> Bool {
    func isSet(_ name: String) -> Bool {
      system.getenv(name).map { !$0.isEmpty && $0 != "0" } ?? false
    }
    if system.getenv("NO_COLOR")?.isEmpty == false { return false }
    if isSet("FORCE_COLOR") || isSet("CLICOLOR_FORCE") { return true }
    return isTerminal && system.getenv("TERM") != "dumb" && system.getenv("CLICOLOR") != "0"
  }

  /// Returns whether the locale is UTF-8, see locale(7); without one it is POSIX, which is ASCII.
  private static func isUnicode(_ system: any System) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"]
    let locale = names.lazy.compactMap { system.getenv($0) }.first { !$0.isEmpty }
    let text = locale?.description.lowercased() ?? ""
    return text.hasSuffix("utf-8") || text.hasSuffix("utf8") || text.has("utf-8@")
      || text.has("utf8@")
  }

  /// The width of the terminal that shows progress; nil if none does.
  var watchedColumns: Int? { isQuiet ? nil : errorStyle.columns }

  /// Buffers text for standard output, which `flush` or `finish` writes at once.
  func print(_ text: String) {
    if !isQuiet || file != nil { output += Array(text.utf8) }
  }

  /// Writes a warning to standard error, see the other `warn`.
  func warn(_ text: String) { Self.warn(text, system) }

  /// Writes a warning to standard error: as one line, which a terminal shows wrapped at blanks.
  static func warn(_ text: String, _ system: any System) { line("warning", text, system) }

  /// Writes a note to standard error, as `warn(_:)` does.
  func note(_ text: String) { Self.line("note", text, system) }

  private static func line(_ word: String, _ text: String, _ system: any System) {
    let line = "\(word): \(Sanitizer.clean(text))"
    let columns = system.isatty(.standardError) ? system.columns(.standardError) : nil
    let style = Style(colors: false, isUnicode: false, columns: columns)
    report(style.wrapped(line, indent: Tool.name.utf8.count + 2, hanging: 2), system)
  }

  /// Writes one line to standard error, after the name of the tool.
  static func report(_ line: String, _ system: any System) {
    _ = try? system.write(.standardError, Array("\(Tool.name): \(line)\n".utf8))
  }

  /// Writes the buffered text.
  ///
  /// - Returns: False if the reader closed the pipe (`| head -1`), which is not an error.
  /// - Throws: If the text cannot be written.
  @discardableResult
  func flush() throws -> Bool {
    defer { output = [] }
    if let file {
      try system.replace(file, with: output)
      return true
    }
    do throws(Errno) {
      var rest = output[...]
      while !rest.isEmpty {
        rest = rest.dropFirst(try system.write(.standardOutput, Array(rest)))
      }
      return true
    } catch .EPIPE {
      return false
    } catch {
      throw PermissionError(
        .system, "standard output cannot be written", call: "write", errno: error)
    }
  }
}

extension System {
  /// Replaces a file, so that a reader sees either all of the old bytes or all of the new ones.
  ///
  /// - Throws: An error if there is something else than a file, or the file cannot be written.
  fileprivate func replace(_ path: PathBytes, with bytes: [UInt8]) throws(PermissionError) {
    var new = path
    do throws(Errno) {
      var mode: UInt16 = 0o644
      if let old = try? openat(.currentDirectory, path, [.path, .noFollow], mode: 0) {
        defer { close(old) }
        let status = try statx(old)
        // Neither a device nor the file behind a link would be replaced, but its name.
        if status.kind != .regular { throw .EINVAL }
        mode = UInt16(status.mode & 0o777)
      }
      let (file, name) = try temporary(beside: path, mode: mode)
      new = name
      do throws(Errno) {
        defer { close(file) }
        try writeAll(file, bytes)
        try fsync(file)
        try rename(new, path)
      } catch {
        _ = try? unlink(new)
        throw error
      }
    } catch {
      throw PermissionError(
        .system, "\(Sanitizer.clean(path.description)) cannot be written", path: path,
        call: "rename", errno: error,
        advice: error == .EINVAL ? "it is not a regular file" : nil)
    }
  }
}

extension System {
  /// Creates a file with a name that nobody can foresee, as mkstemp(3) does.
  private func temporary(
    beside path: PathBytes, mode: UInt16
  ) throws(Errno) -> (file: Descriptor, name: PathBytes) {
    var last = Errno.EEXIST
    for _ in 0..<100 {
      let suffix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
      let name = PathBytes(path.bytes + Array(".\(suffix).new".utf8))
      do throws(Errno) {
        let file = try openat(
          .currentDirectory, name, [.writeOnly, .create, .exclusive, .noFollow], mode: mode)
        return (file, name)
      } catch .EEXIST {
        last = .EEXIST
      }
    }
    throw last
  }
}
