import PermissionKit

/// The standard output and standard error of the tool.
final class Console {
  let style: Style
  /// The style of standard error.
  let errorStyle: Style
  private let system: any System
  private let isQuiet: Bool
  private var output: [UInt8] = []

  init(_ system: any System, color: Style.Color = .auto, isQuiet: Bool = false) {
    self.system = system
    self.isQuiet = isQuiet
    func style(_ file: Descriptor) -> Style {
      let isTerminal = system.isatty(file)
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
    self.style = style(.standardOutput)
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

  /// Buffers text for standard output, which `flush` or `finish` writes at once.
  func print(_ text: String) {
    if !isQuiet { output += Array(text.utf8) }
  }

  /// Writes a warning as one line to standard error.
  func warn(_ text: String) { Self.report("warning: \(Sanitizer.clean(text))", system) }

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

extension Descriptor {
  static let standardOutput = Descriptor(rawValue: 1)
  static let standardError = Descriptor(rawValue: 2)
}
