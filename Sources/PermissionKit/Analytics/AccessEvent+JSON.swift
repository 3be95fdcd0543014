internal import JSONSyntax

extension AccessEvent {
  private static let record = JSONRecord<AccessEvent>([
    .required("v", \.v, .integer), .required("time", \.time, .string),
    .required("event", \.event, .name), .required("accessor", \.accessor, .string),
    .required("status", \.status, .name), .optional("reason", \.reason, .name),
    .required("uid", \.uid, .integer), .optional("subject", \.subject, .integer),
    .optional("root", \.root, .path), .required("pid", \.pid, .integer),
    .required("duration", \.duration, .integer),
  ])

  private static let codec = record.codec(
    AccessEvent(
      time: "", event: .check, accessor: "", status: .notDetermined, uid: .max, pid: 0, duration: 0)
  )

  /// The event as one line of JSON, including the newline.
  package var line: [UInt8] { JSONWriter().bytes(Self.record.json(self)) + [UInt8(ascii: "\n")] }

  /// Parses the lines of a log file.
  ///
  /// - Parameter bytes: The contents of the file.
  /// - Returns: The events, and the number of unreadable lines: incomplete, no events, or of
  ///   another version.
  package static func events(
    inLines bytes: [UInt8]
  ) -> (events: [AccessEvent], unreadable: Int) {
    let reader = JSONReader()
    var unreadable = 0
    let events = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line -> AccessEvent? in
      if let json = try? reader.value(from: Array(line)), let event = try? codec.decode(json),
        event.v == 1
      {
        return event
      }
      unreadable += 1
      return nil
    }
    return (events, unreadable)
  }
}
