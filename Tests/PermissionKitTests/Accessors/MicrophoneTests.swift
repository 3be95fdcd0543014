@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// A microphone is what a recorder opens: ALSA's default device.
@Suite struct MicrophoneTests {
  private func report(_ texts: [PathBytes: String]) throws -> AccessReport {
    let system = FakeSystem()
    system.addUser("ann")
    try system.become("ann")
    system.addMicrophone(mode: 0o666)
    for (path, text) in texts { system.add(path, .file(text)) }
    return MicrophoneAccessor(AccessContext(system: system), analytics: .inMemory).checkAccess()
  }

  @Test func `Without settings the card is asked`() throws {
    #expect(try report([:]).status == .authorized)
    #expect(try report(["/etc/asound.conf": "# nothing\n"]).status == .authorized)
  }

  @Test(arguments: ["/etc/asound.conf", "/home/ann/.asoundrc"] as [PathBytes])
  func `A default that is no node of a card is not taken for access`(_ file: PathBytes) throws {
    let report = try report([file: "pcm.!default { type null }\n"])
    #expect(report.status == .notDetermined)
    let reason = try #require(report.resources.first?.reasons.first)
    #expect(reason.code == .soundDefault && reason.message.contains(file.description))
  }

  @Test func `The default names one card`() throws {
    let text = "pcm.!default { type hw card 0 }\nctl.!default { type hw card 0 }\n"
    #expect(try report(["/etc/asound.conf": text]).status == .authorized)
    let other = text.replacing("card 0", with: "card 7")
    #expect(try report(["/etc/asound.conf": other]).status == .notDetermined)
  }
}
