import Foundation
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins
import TestSupport
import Testing

/// What answers of executable accessors mean, held to an independent JSON reader.
@Suite struct ProgramProtocolTests {
  private func access(
    _ bytes: [UInt8], _ end: ProgramOutput.End = .ended(.exited(0))
  )
    -> Result<ProgramProtocol.Access, ProgramProtocol.Failure>
  {
    Result { () throws(ProgramProtocol.Failure) in
      try ProgramProtocol.access(ProgramOutput(output: bytes, end: end))
    }
  }

  private func status(_ text: String) -> AuthorizationStatus? {
    try? access(Array(text.utf8)).get().status
  }

  @Test func `Answers are read strictly`() throws {
    #expect(status(#"{"version":1,"status":"authorized"}"#) == .authorized)
    #expect(status(#" {"version":1,"status":"denied","message":"no","later":[1]} "#) == .denied)
    for text in [
      "", "{}", "null", "[]", #"{"version":1}"#, #"{"status":"authorized"}"#,
      #"{"version":2,"status":"authorized"}"#, #"{"version":"1","status":"authorized"}"#,
      #"{"version":1,"status":"granted"}"#, #"{"version":1,"status":"AUTHORIZED"}"#,
      #"{"version":1,"status":["authorized"]}"#, #"{"version":1,"status":"authorized"} x"#,
      #"{"version":1,"status":"authorized"}{"version":1,"status":"authorized"}"#,
      #"{"version":1,"status":"denied","status":"authorized"}"#,
      #"{"version":1,"status":"denied"}"#, #"{"version":1,"status":"denied","message":7}"#,
      #"{"version":1,"status":"authorized","requestable":true}"#,
      #"{"version":1,"status":"denied","message":"no","requestable":1}"#,
      #"{"version":1,"status":"authorized","path":"relative"}"#,
      "{\"version\":1,\"status\":\"authorized\",\"label\":\"\(String(repeating: "a", count: 1001))\"}",
    ] {
      #expect(status(text) == nil, "\(text.prefix(80))")
    }
  }

  @Test func `Only a program that exits with 0 has answered`() {
    let good = Array(#"{"version":1,"status":"authorized"}"#.utf8)
    for end: ProgramOutput.End in [
      .late, .long, .ended(.exited(1)), .ended(.exited(127)), .ended(.signalled(11)),
    ] {
      #expect(throws: ProgramProtocol.Failure.self) { try access(good, end).get() }
    }
  }

  /// Broken, cut, mixed and random answers give no access unless they say so in a whole document.
  @Test func `Hostile answers are refused`() throws {
    var random = SeededNumbers("dialogue")
    let seeds = [
      #"{"version":1,"status":"authorized","message":"yes","path":"/dev/x","requestable":false}"#,
      #"{"version":1,"status":"denied","message":"authorized","requestable":true}"#,
      #"{"versions":[1],"version":1,"status":"limited","message":"\u0000\ud800","x":{"status":"authorized"}}"#,
      #"[{"version":1,"status":"authorized"}]"#,
    ].map { Array($0.utf8) }
    var (authorized, refused) = (0, 0)
    let answers = Effort.of(10_000, atLeast: 1_000)
    for _ in 0..<answers {
      var bytes = seeds.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
        case 3: bytes.removeLast(bytes.count - place)
        case 4 where bytes.count < 100_000: bytes.insert(contentsOf: bytes[..<place], at: place)
        case 5 where bytes.count < 100_000:
          bytes = Array(repeating: UInt8(ascii: "["), count: 5_000) + bytes
        case 6: bytes.insert(contentsOf: seeds.randomElement(using: &random) ?? [], at: place)
        default: bytes += Array(repeating: UInt8(ascii: " "), count: min(place, 90) * 1_000)
        }
      }
      let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
      let says = object?["version"] as? Int == 1 ? object?["status"] as? String : nil
      switch access(bytes) {
      case .success(let access):
        #expect(access.status.rawValue == says, "\(String(decoding: bytes, as: UTF8.self))")
        if access.status == .authorized { authorized += 1 }
      case .failure(let failure):
        refused += 1
        #expect(!failure.message.isEmpty)
      }
    }
    #expect(refused * 2 > answers && authorized > 0)
  }
}
