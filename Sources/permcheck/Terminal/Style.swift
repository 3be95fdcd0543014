import PermissionKit

/// The colours and the width of a terminal.
struct Style {
  /// When to use colours.
  enum Color: String, CaseIterable {
    case auto
    case always
    case never
  }

  let colors: Bool
  /// Whether the locale shows more than ASCII.
  let isUnicode: Bool
  /// The width in columns; nil if lines are not wrapped.
  let columns: Int?

  /// A line drawing character, or its replacement in ASCII.
  enum Glyph {
    case branch, lastBranch, arrow
  }

  /// Returns a mark in its colour, in ASCII if the locale requires it.
  func mark(_ mark: Mark) -> String {
    let text = isUnicode ? mark.text : mark.ascii
    return switch mark {
    case .yes: green(text)
    case .partly, .unknown: yellow(text)
    case .no: red(text)
    case .none: dim(text)
    }
  }

  /// Returns a glyph, in ASCII if the locale requires it.
  func glyph(_ glyph: Glyph) -> String {
    switch glyph {
    case .branch: isUnicode ? "├─" : "|-"
    case .lastBranch: isUnicode ? "└─" : "`-"
    case .arrow: isUnicode ? "→" : "->"
    }
  }

  private func sgr(_ code: String, _ text: String) -> String {
    colors && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }

  func bold(_ text: String) -> String { sgr("1", text) }
  func dim(_ text: String) -> String { sgr("2", text) }
  func red(_ text: String) -> String { sgr("31", text) }
  func green(_ text: String) -> String { sgr("32", text) }
  func yellow(_ text: String) -> String { sgr("33", text) }

  /// Returns text that is wrapped at blanks to the width of the terminal.
  func wrapped(_ text: String, indent: Int, hanging: Int) -> String {
    guard let columns, columns > hanging + 10 else { return text }
    var lines: [String] = []
    var line = ""
    for word in text.parts(by: " ", omittingEmptySubsequences: false) {
      let room = columns - (lines.isEmpty ? indent : hanging)
      if !line.isEmpty, line.displayWidth + 1 + String(word).displayWidth > room {
        lines.append(line)
        line = String(word)
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: hanging))
  }
}
