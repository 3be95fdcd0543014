import Testing

@testable import PermissionKit

/// What servers answer, fed with garbage: no crash, no hang.
@Suite struct MediaServerTests {
  /// One source of PulseAudio, as in a reply to PA_COMMAND_GET_SOURCE_INFO_LIST.
  static let source: [UInt8] =
    [0x4C, 0, 0, 0, 1] + Array("tmic\0tMicrophone\0".utf8) + [0x61, 3, 2, 0, 0, 0xBB, 0x80]
    + [0x6D, 2, 1, 2, 0x4C, 0, 0, 0, 5, 0x76, 1, 0, 1, 0, 0, 0x30]
    + [0x4C, 0xFF, 0xFF, 0xFF, 0xFF, 0x4E, 0x55, 0, 0, 0, 0, 0, 0, 0, 0]
    + Array("talsa\0".utf8) + [0x4C, 0, 0, 0, 4]

  @Test("A source is read") func aSourceIsRead() {
    #expect(
      PulseAudioProtocol.sources((Self.source + Self.source)[...])
        == [OfferedDevice](repeating: OfferedDevice(name: "mic", label: "Microphone"), count: 2))
    for length in 1..<Self.source.count {
      #expect(PulseAudioProtocol.sources(Self.source[..<length]) == nil)
    }
  }

  @Test("Noise") func noise() {
    FuzzTests.feed([Self.source, Self.source + Self.source]) {
      _ = PulseAudioProtocol.sources($0[...])
      _ = PipeWireProtocol.node($0[...], ofClass: "Audio/Source")
    }
  }
}
