internal import FoundationEssentials

extension AccessEvent {
  /// Reads the lines of a log file.
  ///
  /// - Returns: The events, and how many lines were none: torn, foreign, or of another version.
  public static func events(inLines bytes: [UInt8]) -> (events: [AccessEvent], unreadable: Int) {
    let decoder = JSONDecoder()
    var unreadable = 0
    let events = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line -> AccessEvent? in
      let event = try? decoder.decode(AccessEvent.self, from: Data(line))
      if let event, event.v == 1 { return event }
      unreadable += 1
      return nil
    }
    return (events, unreadable)
  }
}
