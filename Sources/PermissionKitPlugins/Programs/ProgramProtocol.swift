internal import JSONSyntax
@_spi(SystemCalls) package import PermissionKit

/// The protocol between permcheck and an accessor that is a program: questions and answers.
///
/// The program reads one JSON object from its standard input and writes one to its standard output.
/// Documentation/guide/accessors.md describes the members.
package enum ProgramProtocol {
  /// The kind of question.
  package enum Operation: String, Sendable {
    /// The name, the summary and the devices of the accessor.
    case describe
    /// Whether there is access.
    case check
    /// A request for access, which may ask a person.
    case request

    /// The longest time of an answer, in milliseconds.
    var timeout: Int32 {
      switch self {
      case .describe: 2_000
      case .check: 10_000
      case .request: 120_000
      }
    }
  }

  /// The version of the protocol.
  package static let version = 1
  /// The most bytes of an answer.
  package static let maximumSize = 1 << 16
  /// The most characters of a text in an answer.
  private static let maximumText = 1_000

  /// An answer about access.
  package struct Access: Hashable, Sendable {
    /// The status in the program's answer.
    package var status: AuthorizationStatus
    /// The reason, for people; may be empty if there is access.
    package var message = ""
    /// The device or folder of the answer, for people; empty if the answer has none.
    package var label = ""
    /// The file that decides; nil if there is none.
    package var path: PathBytes?
    /// Whether a request could help.
    package var isRequestable = false
  }

  /// The reason why an answer cannot be used: the end of a sentence that begins with the program.
  package struct Failure: Error, Hashable {
    /// The end of the sentence.
    package let message: String
  }

  /// Returns the bytes of a question.
  static func question(
    _ operation: Operation, _ name: String, _ subject: Subject?, need: Permissions?
  ) -> [UInt8] {
    var members: [(String, JSONValue)] = [
      ("versions", .array([JSONValue(version)])), ("operation", .string(operation.rawValue)),
      ("accessor", .string(name)),
    ]
    if let subject {
      let credentials = subject.credentials
      members.append(
        (
          "subject",
          .object(
            JSONObject(
              [
                ("source", .string(subject.source.rawValue)),
                ("uid", JSONValue(credentials.user.fileSystem)),
                ("gid", JSONValue(credentials.group.fileSystem)),
                ("groups", .array(credentials.groups.map { JSONValue($0) })),
              ] + (subject.process.map { [("pid", JSONValue($0))] } ?? [])))
        ))
    }
    if let need { members.append(("need", .string(need.letters))) }
    return Array((JSONWriter().text(.object(JSONObject(members))) + "\n").utf8)
  }

  /// Parses the summary of an accessor.
  package static func summary(_ output: ProgramOutput) throws(Failure) -> String {
    let object = try object(output)
    return try text("summary", object) ?? ""
  }

  /// Parses an answer about access.
  ///
  /// Unknown members are ignored.
  package static func access(_ output: ProgramOutput) throws(Failure) -> Access {
    let object = try object(output)
    guard let word = try text("status", object), let status = AuthorizationStatus(rawValue: word)
    else { throw Failure(message: "answers without a known status") }
    var access = Access(status: status)
    access.message = try text("message", object) ?? ""
    access.label = try text("label", object) ?? ""
    if let path = try text("path", object) {
      let path = PathBytes(path)
      guard path.isAbsolute, !path.bytes.contains(0) else {
        throw Failure(message: "answers with a path that does not start with /")
      }
      access.path = path
    }
    if let value = object["requestable"] {
      guard case .bool(let flag) = value else {
        throw Failure(message: "answers with a \"requestable\" that is neither true nor false")
      }
      access.isRequestable = flag
    }
    if status != .authorized, access.message.isEmpty {
      throw Failure(message: "answers \(status.rawValue) without a message")
    }
    if access.isRequestable, status != .denied, status != .limited {
      throw Failure(
        message:
          "answers \(status.rawValue) and requestable; only denied and limited can be requested")
    }
    return access
  }

  private static func object(_ output: ProgramOutput) throws(Failure) -> JSONObject {
    switch output.end {
    case .late: throw Failure(message: "did not answer in time and was ended")
    case .long: throw Failure(message: "wrote more than \(maximumSize) bytes and was ended")
    case .ended(.signalled(let signal)): throw Failure(message: "was ended by signal \(signal)")
    case .ended(.exited(let status)) where status != 0:
      throw Failure(message: "failed with exit status \(status)")
    case .ended: break
    }
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader(maximumDepth: 16, maximumSize: maximumSize)
        .value(from: output.output)
    } catch {
      throw Failure(
        message: output.output.isEmpty
          ? "answered nothing" : "did not answer with one JSON document (\(error))")
    }
    guard case .object(let object) = value else {
      throw Failure(message: "did not answer with a JSON object")
    }
    guard let number = object["version"] else {
      throw Failure(message: "answers without a version")
    }
    guard number == JSONValue(version) else {
      throw Failure(message: "uses another version of the protocol than \(version)")
    }
    return object
  }

  private static func text(_ name: String, _ object: JSONObject) throws(Failure) -> String? {
    guard let value = object[name] else { return nil }
    guard case .string(let text) = value else {
      throw Failure(message: "answers with a \(name) that is not a string")
    }
    guard text.unicodeScalars.count <= maximumText else {
      throw Failure(message: "answers with a \(name) of more than \(maximumText) characters")
    }
    return text
  }
}
