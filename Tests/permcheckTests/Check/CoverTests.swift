import Foundation
import TestSupport
import Testing

/// What a sandbox mounts over a node or a folder: it is named, and nothing is called missing.
///
/// The sandboxes themselves are in the lab's scenario `covers`.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounts want root"))
struct CoverTests {
  struct Row: CustomTestStringConvertible {
    let testDescription: String
    let setup: String
    let ask: String
    let status: String
    /// The code of the reason, and a word of its message; empty if nothing covers it.
    var code = ""
    var word = ""
  }

  /// A camera of nobody, a folder of sounds, and the files that firejail and systemd mount.
  private static let common = """
    mkdir dev/snd run run/firejail pictures
    mknod -m 666 dev/video0 c 81 9; mknod -m 666 dev/snd/pcmC0D0c c 116 24
    mount -t tmpfs -o mode=755,nodev none run
    mkdir -p run/firejail run/systemd/inaccessible
    install -m 400 /dev/null run/firejail/firejail.ro.file; mkdir -m 400 run/firejail/firejail.ro.dir
    mknod -m 000 run/systemd/inaccessible/chr c 0 0; mkdir -m 000 run/systemd/inaccessible/dir
    : >empty; mkdir nothing; chmod 755 . nothing pictures
    over() { mount --bind "$1" "$2"; }

    """

  private static let camera = "camera=$T/dev/video0"
  private static let microphone = "mic=$T/dev/snd/pcmC0D0c"

  static let rows = [
    Row(
      testDescription: "an empty file", setup: "over empty dev/video0", ask: camera,
      status: "restricted", code: "sandbox", word: "another mount covers"),
    Row(
      testDescription: "the null device", setup: "over /dev/null dev/video0", ask: camera,
      status: "restricted", code: "sandbox", word: "another mount covers"),
    Row(
      testDescription: "an empty folder", setup: "over nothing dev/snd", ask: microphone,
      status: "restricted", code: "sandbox", word: "/dev/snd here"),
    Row(
      testDescription: "a file of firejail", setup: "over run/firejail/firejail.ro.file dev/video0",
      ask: camera, status: "restricted", code: "sandbox", word: "firejail covers"),
    Row(
      testDescription: "a folder of firejail", setup: "over run/firejail/firejail.ro.dir dev/snd",
      ask: microphone, status: "restricted", code: "sandbox", word: "firejail covers"),
    Row(
      testDescription: "pictures, by firejail", setup: "over run/firejail/firejail.ro.dir pictures",
      ask: "photos=$T/pictures --need r", status: "restricted", code: "sandbox",
      word: "firejail covers"),
    Row(
      testDescription: "a node of systemd", setup: "over run/systemd/inaccessible/chr dev/video0",
      ask: camera, status: "restricted", code: "service-sandbox", word: "InaccessiblePaths="),
    Row(
      testDescription: "a folder of systemd", setup: "over run/systemd/inaccessible/dir dev/snd",
      ask: microphone, status: "restricted", code: "service-sandbox", word: "InaccessiblePaths="),
    Row(
      testDescription: "a file of another type without a mount",
      setup: "rm dev/video0; : >dev/video0", ask: camera, status: "unavailable"),
    Row(
      testDescription: "a camera that was mounted there",
      setup: "mknod -m 600 other c 81 9; over other dev/video0", ask: camera, status: "denied"),
    Row(
      testDescription: "pictures that were mounted there",
      setup: "mkdir -m 700 mine; over mine pictures", ask: "photos=$T/pictures --need r",
      status: "denied"),
  ]

  @Test(arguments: rows) func `A mount that hides a path is named`(_ row: Row) throws {
    let (outcome, report) = try ReasonTests.run(
      ReasonTests.Scene(Self.common + row.setup, ask: row.ask))
    #expect(report.status == row.status, "\(outcome.output)")
    let reasons = report.resources.flatMap(\.reasons)
    let isNamed = reasons.contains { $0.code == row.code && $0.message.contains(row.word) }
    #expect(isNamed == !row.code.isEmpty, "\(outcome.output)")
    if row.code.isEmpty {
      #expect(!report.codes.contains("sandbox") && !report.codes.contains("service-sandbox"))
    }
  }
}
