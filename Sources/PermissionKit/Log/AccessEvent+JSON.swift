internal import JSONSyntax

extension AccessEvent {
  // Only reads: setting up what writes takes longer than a whole check.
  private static let record = JSONRecord<AccessEvent>([
    .required("v", .integer, get: { $0.v }, set: { $0.v = $1 }),
    .required("time", .string, get: { $0.time }, set: { $0.time = $1 }),
    .required("event", .name, get: { $0.event }, set: { $0.event = $1 }),
    .required("accessor", .string, get: { $0.accessor }, set: { $0.accessor = $1 }),
    .required("status", .name, get: { $0.status }, set: { $0.status = $1 }),
    .optional("reason", .name, get: { $0.reason }, set: { $0.reason = $1 }),
    .required("uid", .integer, get: { $0.uid }, set: { $0.uid = $1 }),
    .optional("subject", .integer, get: { $0.subject }, set: { $0.subject = $1 }),
    .optional("root", .path, get: { $0.root }, set: { $0.root = $1 }),
    .required("pid", .integer, get: { $0.pid }, set: { $0.pid = $1 }),
    .required("duration", .integer, get: { $0.duration }, set: { $0.duration = $1 }),
  ])

  private static let codec = record.codec(
    AccessEvent(
      time: "", event: .check, accessor: "", status: .notDetermined, uid: .max, pid: 0, duration: 0)
  )

  /// The event as one line of JSON, including the newline.
  package var line: [UInt8] {
    var members: [(String, JSONValue)] = [
      ("v", JSONValue(v)), ("time", .string(time)), ("event", .string(event.rawValue)),
      ("accessor", .string(accessor)), ("status", .string(status.rawValue)),
    ]
    if let reason { members.append(("reason", .string(reason.rawValue))) }
    members.append(("uid", JSONValue(uid)))
    if let subject { members.append(("subject", JSONValue(subject))) }
    if let root { members.append(("root", .string(root.description))) }
    members.append(("pid", JSONValue(pid)))
    members.append(("duration", JSONValue(duration)))
    return JSONWriter().bytes(.object(JSONObject(distinct: members))) + [UInt8(ascii: "\n")]
  }

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
