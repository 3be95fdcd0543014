import HelperStart
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// The command line of the helper: its only input, besides the uid of the caller.
///
///     grant ACCESSOR [--need r|w|rw] [--for SECONDS] [--while PID]
///     revoke ACCESSOR [--while PID | --request ID]
struct Invocation: Sendable {
  /// The action.
  enum Action: String, Sendable {
    /// Gives the calling user access to the devices of the accessor.
    case grant
    /// Revokes what the helper gave that user.
    case revoke
  }

  var action: Action
  /// The name or alias of the accessor: lower-case letters, digits and hyphens.
  var accessor: String
  var need: Permissions?
  /// How long the access lasts, in seconds.
  var seconds: Int64?
  /// The process whose end ends the access.
  var process: Int32?
  /// The id of the request to revoke: letters, digits, `:`, `.` and `-`.
  var request: String?

  /// The longest time that a grant may have: a year, in seconds.
  static let longest: UInt64 = 31_536_000

  /// Parses the arguments; nil if they differ from the grammar in anything, such as the order.
  init?(_ arguments: [PathBytes]) {
    var words = arguments.map(\.bytes)[...]
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    guard let verb = words.popFirst(), let action = Action(rawValue: text(verb)),
      let name = words.popFirst(), AccessorDeclaration.isName(text(name))
    else { return nil }
    self.action = action
    accessor = text(name)
    func value(of option: String) -> [UInt8]? {
      guard let word = words.first, word == Array(option.utf8), words.count > 1 else { return nil }
      words.removeFirst()
      return words.removeFirst()
    }
    if action == .grant, let value = value(of: "--need") {
      let known: [String: Permissions] = ["r": .read, "w": .write, "rw": [.read, .write]]
      guard let need = known[text(value)] else { return nil }
      self.need = need
    }
    if action == .grant, let value = value(of: "--for") {
      guard let seconds = Self.number(value, atMost: Self.longest) else { return nil }
      self.seconds = Int64(seconds)
    }
    if let value = value(of: "--while") {
      guard let process = Self.number(value, atMost: 1 << 22) else { return nil }
      self.process = Int32(process)
    } else if action == .revoke, let value = value(of: "--request") {
      guard Self.isRequest(value) else { return nil }
      request = text(value)
    }
    guard words.isEmpty else { return nil }
  }

  private static func isRequest(_ bytes: [UInt8]) -> Bool {
    (1...64).contains(bytes.count)
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        // The digits and the colon.
        case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  /// Returns the positive decimal number; nil for a sign, a leading zero, or anything else.
  static func number(_ bytes: [UInt8], atMost limit: UInt64) -> UInt64? {
    guard (1...10).contains(bytes.count), bytes[0] != UInt8(ascii: "0") else { return nil }
    var number: UInt64 = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
    }
    return number <= limit ? number : nil
  }

  /// Returns the uid of the user who started sudo or pkexec; nil if that is not certain.
  ///
  /// - Parameter system: The system that has the credentials of this process.
  /// - Returns: A uid that is neither 0 nor -1.
  static func invoker(_ system: any System) -> UInt32? {
    guard let text = unsafe helper_start_invoker(),
      let uid = number(unsafe Array(String(cString: text).utf8), atMost: UInt64(UInt32.max) - 1),
      system.isRoot
    else { return nil }
    return UInt32(uid)
  }
}
