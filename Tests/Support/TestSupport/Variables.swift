import Foundation

/// The environment that this process was started with.
package enum Variables {
  /// Every variable, from /proc/self/environ.
  ///
  /// Not by getenv(3): libTesting calls unsetenv(3) while tests start, and a variable that moves then
  /// was seen to be missed.
  package static let all: [String: String] = {
    guard let data = FileManager.default.contents(atPath: "/proc/self/environ") else {
      fatalError("/proc/self/environ cannot be read")
    }
    let pairs = data.split(separator: 0).compactMap { entry -> (String, String)? in
      let parts = entry.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      return (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
    }
    return Dictionary(pairs) { first, _ in first }
  }()

  /// Returns the value of a variable; nil if it is not set, or empty.
  package static func value(_ name: String) -> String? {
    all[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
