public import Foundation

/// The checkout that the tests were built in, for the scripts and files in it.
public enum Checkout: Sendable {
  /// The folder of Package.swift.
  public static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

  /// Returns a file, such as `Tests/Lab/run`.
  public static func file(_ name: String) -> URL { root.appending(path: name) }

  /// Returns the path of a file.
  public static func path(_ name: String) -> String { file(name).path }
}
