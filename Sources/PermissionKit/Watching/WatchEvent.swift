/// One event of inotify(7).
package struct WatchEvent: Hashable, Sendable {
  /// The number of the watch; -1 for an overflow.
  package var watch: Int32
  /// The events that happened.
  package var mask: WatchMask
  /// The name in the watched directory; empty if the event is about the inode itself.
  package var name: PathBytes

  /// Creates an event with these values.
  package init(watch: Int32, mask: WatchMask, name: PathBytes = "") {
    self.watch = watch
    self.mask = mask
    self.name = name
  }

  /// Calls `body` with each event in the bytes that read(2) returned for an inotify descriptor.
  ///
  /// The format is struct inotify_event: wd 4, mask 4, cookie 4, len 4, then `len` bytes of name
  /// and NULs.
  package static func each(in bytes: [UInt8], _ body: (WatchEvent) -> Void) {
    func word(_ offset: Int) -> UInt32 {
      unsafe bytes.withUnsafeBytes {
        unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      }
    }
    var offset = 0
    while offset + 16 <= bytes.count {
      let end = offset + 16 + Int(word(offset + 12))
      guard end <= bytes.count else { return }
      let name = bytes[(offset + 16)..<end].prefix { $0 != 0 }
      body(
        WatchEvent(
          watch: Int32(bitPattern: word(offset)), mask: WatchMask(rawValue: word(offset + 4)),
          name: PathBytes(Array(name))))
      offset = end
    }
  }
}
