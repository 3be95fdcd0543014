import PermissionKit

extension String {
  /// The number of columns that the text takes on a terminal, without colour escape sequences.
  ///
  /// Emoji and characters of East Asian width W and F (Unicode Annex 11) take two columns.
  var displayWidth: Int {
    var width = 0
    var isEscape = false
    for scalar in unicodeScalars {
      if scalar == "\u{1b}" { isEscape = true }
      if isEscape {
        if scalar == "m" { isEscape = false }
        continue
      }
      width += scalar.displayWidth
    }
    return width
  }

  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - displayWidth))
  }
}

extension Unicode.Scalar {
  private var isWide: Bool {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
      0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x20000...0x3fffd:
      true
    default: false
    }
  }

  fileprivate var displayWidth: Int {
    switch value {
    // Also dashes, shapes and check marks, without the tables of all characters.
    case ..<0x300, 0x2010...0x2027, 0x25a0...0x25fc, 0x2713...0x2718: return 1
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    return isWide ? 2 : 1
  }
}

/// A table whose columns are as wide as their widest cell.
struct Table {
  private let rows: [[String]]

  init(_ rows: [[String]]) { self.rows = rows }

  /// Returns the widths of the columns; the last cell of each row is ignored.
  static func widths(_ rows: [[String]]) -> [Int] {
    var widths: [Int] = []
    for row in rows {
      for (index, cell) in row.enumerated() where index < row.count - 1 {
        if index == widths.count { widths.append(0) }
        widths[index] = max(widths[index], cell.displayWidth)
      }
    }
    return widths
  }

  /// Returns one row: cells padded to `widths`, two blanks between them, no blanks at the end.
  static func line(_ row: [String], _ widths: [Int]) -> String {
    var text = ""
    for (index, cell) in row.enumerated() {
      text += index < row.count - 1 ? cell.padded(to: widths[index]) + "  " : cell
    }
    while text.last == " " { text.removeLast() }
    return text
  }

  var text: String {
    let widths = Self.widths(rows)
    return rows.map { Self.line($0, widths) + "\n" }.joined()
  }
}

extension String {
  /// Returns the text with some characters replaced.
  ///
  /// Scalars are compared: a mark that combines with a character must not hide it.
  func replacing(_ table: [Unicode.Scalar: String]) -> String {
    unicodeScalars.map { table[$0] ?? String($0) }.joined()
  }
}
