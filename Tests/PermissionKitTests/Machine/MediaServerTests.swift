import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// What servers answer, whole, cut off and changed.
@Suite struct MediaServerTests {
  /// One source of PulseAudio, as in a reply to PA_COMMAND_GET_SOURCE_INFO_LIST.
  static let source: [UInt8] =
    [0x4C, 0, 0, 0, 1] + Array("tmic\0tMicrophone\0".utf8) + [0x61, 3, 2, 0, 0, 0xBB, 0x80]
    + [0x6D, 2, 1, 2, 0x4C, 0, 0, 0, 5, 0x76, 1, 0, 1, 0, 0, 0x30]
    + [0x4C, 0xFF, 0xFF, 0xFF, 0xFF, 0x4E, 0x55, 0, 0, 0, 0, 0, 0, 0, 0]
    + Array("talsa\0".utf8) + [0x4C, 0, 0, 0, 4]

  @Test func `A source of PulseAudio is parsed`() {
    #expect(
      PulseAudioProtocol.sources((Self.source + Self.source)[...])
        == [OfferedDevice](repeating: OfferedDevice(name: "mic", label: "Microphone"), count: 2))
    for length in 1..<Self.source.count {
      #expect(PulseAudioProtocol.sources(Self.source[..<length]) == nil)
    }
  }

  /// A server that answers what another one has answered.
  private final class RecordedServer: ForwardingSystem {
    private let answer: [UInt8]
    private let server: Mutex<Int32> = Mutex(-1)

    init(_ answer: [UInt8]) { self.answer = answer }
    deinit { Glibc.close(server.withLock { $0 }) }

    func connect(_ path: PathBytes) throws(Errno) -> Descriptor {
      var ends: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
      _ = Glibc.write(ends[1], answer, answer.count)
      shutdown(ends[1], Int32(SHUT_WR))
      server.withLock { $0 = ends[1] }
      return Descriptor(rawValue: ends[0])
    }
  }

  private static func nodes(_ answer: [UInt8], _ mediaClass: String) throws -> [OfferedDevice] {
    var line = try ServerLine(RecordedServer(answer), "/run/pipewire-0")
    return try PipeWireProtocol.nodes(ofClass: mediaClass, &line)
  }

  /// What PipeWire 0.3.65 answered, with a microphone and a loudspeaker of support.null-audio-sink.
  private static func recorded() throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    return Array(try Data(contentsOf: folder.appending(path: "pipewire-0.3.65.bin")))
  }

  @Test func `The answer of PipeWire is parsed`() throws {
    let answer = try Self.recorded()
    #expect(
      try Self.nodes(answer, "Audio/Source")
        == [OfferedDevice(name: "mic.desk", label: "Desk microphone")])
    #expect(
      try Self.nodes(answer, "Audio/Sink") == [OfferedDevice(name: "speaker", label: "Speaker")])
    #expect(try Self.nodes(answer, "Video/Source") == [])
  }

  @Test func `A truncated or changed answer names no other devices`()
    throws
  {
    let answer = try Self.recorded()
    var random = SeededNumbers("pipewire")
    for _ in 0..<200 {
      let length = Int.random(in: 0..<answer.count, using: &random)
      #expect(throws: Errno.EPIPE) { try Self.nodes(Array(answer[..<length]), "Audio/Source") }
      var changed = answer
      changed[length] ^= UInt8.random(in: 1...255, using: &random)
      let found = (try? Self.nodes(changed, "Audio/Source")) ?? []
      #expect(found.count <= 1, "byte \(length)")
    }
  }
}
