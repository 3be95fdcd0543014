/// A set of read, write and execute bits, as in one digit of a mode: `r` = 4, `w` = 2, `x` = 1.
///
/// On a directory `execute` means search, see path_resolution(7).
public struct Permissions: OptionSet, Hashable, Sendable {
  /// The digit, 0 to 7.
  public let rawValue: UInt8

  /// Creates a set from the lowest three bits and ignores the other bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 7 }

  /// `r`, MAY_READ; on a directory, listing the names.
  public static let read = Permissions(rawValue: 4)
  /// `w`, MAY_WRITE; on a directory, creating and removing names.
  public static let write = Permissions(rawValue: 2)
  /// `x`, MAY_EXEC; on a directory, search.
  public static let execute = Permissions(rawValue: 1)
  /// `rwx`, all three bits.
  public static let all = Permissions(rawValue: 7)

  /// Creates a set from the letters `r`, `w`, `x` in any order; ignores `-`.
  ///
  /// Nil if the text is empty or has any other character.
  public init?(_ text: some StringProtocol) {
    var bits: UInt8 = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "r"): bits |= 4
      case UInt8(ascii: "w"): bits |= 2
      case UInt8(ascii: "x"): bits |= 1
      case UInt8(ascii: "-"): continue
      default: return nil
      }
    }
    guard !text.isEmpty else { return nil }
    self.init(rawValue: bits)
  }
}

extension Permissions: CustomStringConvertible {
  /// Three characters, as ls(1) and getfacl(1) print them: `rw-`.
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

  /// Only the letters of bits that are set, in the format of `--need`: `rw`.
  public var letters: String {
    (contains(.read) ? "r" : "") + (contains(.write) ? "w" : "")
      + (contains(.execute) ? "x" : "")
  }

  /// The words of the bits that are set, for people: `read+write`.
  package var words: String {
    [(Permissions.read, "read"), (.write, "write"), (.execute, "execute")]
      .filter { contains($0.0) }.map(\.1).joined(separator: "+")
  }
}
