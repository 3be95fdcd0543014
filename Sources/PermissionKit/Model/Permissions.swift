/// A set of read, write and execute bits, as in one digit of a mode: `r` = 4, `w` = 2, `x` = 1.
///
/// On a directory `execute` means search, see path_resolution(7).
public struct Permissions: OptionSet, Hashable, Sendable {
  /// The digit, 0 to 7.
  public let rawValue: UInt8

  /// Takes the lowest three bits and drops the others.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 7 }

  /// `r`, MAY_READ; of a directory, listing its names.
  public static let read = Permissions(rawValue: 4)
  /// `w`, MAY_WRITE; of a directory, creating and removing names.
  public static let write = Permissions(rawValue: 2)
  /// `x`, MAY_EXEC; of a directory, search.
  public static let execute = Permissions(rawValue: 1)
  /// `rwx`, all three bits.
  public static let all = Permissions(rawValue: 7)

  /// Reads `r`, `w`, `x` in any order, `-` being ignored; nil for anything else or for nothing.
  public init?(_ text: some StringProtocol) {
    var bits: UInt8 = 0
    for character in text {
      switch character {
      case "r": bits |= 4
      case "w": bits |= 2
      case "x": bits |= 1
      case "-": continue
      default: return nil
      }
    }
    guard !text.isEmpty else { return nil }
    self.init(rawValue: bits)
  }
}

extension Permissions: CustomStringConvertible {
  /// Three characters as ls(1) and getfacl(1) print them: `rw-`.
  public var description: String {
    switch rawValue {
    case 0: "---"
    case 1: "--x"
    case 2: "-w-"
    case 3: "-wx"
    case 4: "r--"
    case 5: "r-x"
    case 6: "rw-"
    default: "rwx"
    }
  }

  /// The letters that are set alone, as `--need` takes them: `rw`.
  public var letters: String {
    (contains(.read) ? "r" : "") + (contains(.write) ? "w" : "")
      + (contains(.execute) ? "x" : "")
  }
}
