/// A program that uses a file by its own rule on owners and modes.
package struct ProgramUse: Hashable, Sendable {
  /// The program, as `--as-used-by` has it.
  package var program: String
  /// The user who runs it, or whose file it is, for people.
  package var user: String
  /// The kind of file that it is taken for, since its place does not show it: `a log`.
  package var noun: String?
}

/// A program that will refuse a file after a change, because its own rule on owners and modes forbids the new mode.
public struct ProgramObjection: Hashable, Sendable {
  /// The program, as `--despite` has it: `sshd`.
  public var program: String
  /// The file or folder with the new mode.
  public var path: PathBytes
  /// The program's answer then, with the reason, for people.
  public var message: String
  /// Another way to give access, for people; nil if none is known.
  public var instead: String?
  /// The manual page and the source of the rule.
  public var source: String
  /// Whether the program only warns.
  package var onlyWarns = false

  /// The message with what else gives access, for people.
  package var words: String { message + (instead.map { "; instead: \($0)" } ?? "") }
}
