import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKitPlugins

/// Declarations by somebody who wants a crash, a hang, a grant or a false answer.
@Suite struct HostileDeclarationTests {
  private static let values = [
    "\"serial\"", "\"camera\"", "\"\"", "\"/dev/*/*/*/*/*/*/*/*\"", "\"~\"", "\"/etc/shadow\"",
    "\"/dev/[!-~]*\"", "\"[[[[\"", "\"/\"", "\"..\"", "\"/dev/\\u0000\"", "\"\\u202e\"", "3", "-1",
    "1e999", "true", "nan", "1979-05-27", "[]", "[[]]", "[\"/dev/*\"]", "[\"188:*\", 3]", "{}",
    "{ a = 1 }", "\"acl\"", "\"none\"", "\"rwx\"", "\"MUSIC\"", "[\"/dev/a\", \"/dev/????????\"]",
    "\"/run/x\"", "\"" + String(repeating: "*a", count: 500) + "\"", "[\"mic\"]", "\"\"\"\nx\"\"\"",
    "[\"4294967295:*\"]", "[\"1:1-1048575\"]", "\"ID_X=\"", "'/dev/\\'", "\"tty\"",
  ]

  /// Returns a document: lines of known keys with any values, of which some are cut or mangled.
  private static func document(_ random: inout some RandomNumberGenerator) -> [UInt8] {
    var text = Bool.random(using: &random) ? "name = \"rubbish\"\nsummary = \"rubbish\"\n" : ""
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      let key = DeclarationReader.keys.randomElement(using: &random) ?? "name"
      text += "\(key) = \(values.randomElement(using: &random) ?? "0")\n"
    }
    // Now and then one that is nearly right, so that accessors are made.
    if Int.random(in: 0..<3, using: &random) == 0 {
      let place = [
        "nodes = [\"/dev/*\", \"/dev/[a-z]*/?/f/*\"]", "directory = \"/home/u\"", "xdg = \"MUSIC\"",
        "socket = \"/run/x\"", "class = \"tty\"", "directory = \"~\"",
        "directory = \"/etc/shadow\"",
      ].randomElement(using: &random)
      text = "name = \"rubbish\"\nsummary = \"rubbish\"\n\(place ?? "")\nneed = \"rw\"\n"
    }
    var bytes = Array(text.utf8)
    while !bytes.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(UInt8.random(in: 0...127, using: &random), at: place)
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return bytes
  }

  /// A machine of which the user may use nothing; only what is there can be authorized.
  private static let machine: FakeSystem = {
    let system = FakeSystem(credentials: Credentials(uid: 1000, gid: 1000, groups: []))
    system.setEnvironment("HOME", "/home/u")
    for name in ["home/u", "home/u/Music", "etc", "run", "srv"] {
      system.add(PathBytes("/\(name)"), FakeNode(kind: .directory, mode: 0o711))
    }
    system.add("/etc/shadow", FakeNode(mode: 0o600))
    system.add("/run/x", FakeNode(kind: .socket, mode: 0o600))
    for (name, minor) in [("a", UInt32(1)), ("ttyUSB0", 0), ("d/e/f/g", 2), ("12345678", 3)] {
      system.add(
        PathBytes("/dev/\(name)"),
        FakeNode(
          kind: .characterDevice, mode: 0o600, device: DeviceNumber(major: 188, minor: minor)))
    }
    return system
  }()

  static let documents = Effort.of(4_000, atLeast: 250)

  @Test func `No hostile declaration authorizes`() {
    var random = SeededNumbers("declarations")
    var valid = 0
    for _ in 0..<Self.documents {
      let bytes = Self.document(&random)
      let text = String(decoding: bytes, as: UTF8.self)
      let reader = DeclarationReader(bytes)
      guard let declaration = reader.declaration else {
        #expect(!reader.mistakes.isEmpty, "\(text)")
        continue
      }
      var registry = AccessorRegistry.standard
      guard registry.clashes(of: declaration).isEmpty, (try? registry.add(declaration)) != nil,
        let entry = registry[declaration.name]
      else { continue }
      valid += 1
      let accessor = entry.make(AccessContext(system: Self.machine), .discard)
      // Only the root directory is everybody's to read.
      let report = accessor.checkAccess()
      let isOfRoot = declaration.place == .directory("/")
      #expect(report.status != .authorized && (report.status != .limited || isOfRoot), "\(text)")
      let plan = try? (accessor as? ResourceAccessor)?.grantPlan()
      #expect(plan?.needsRoot != false, "\(text)")
      let violations = AccessorContract.violations {
        let accessor = entry.make(AccessContext(system: Self.machine), $0)
        (accessor as? ResourceAccessor)?.grants.consent = { _ in false }
        return accessor
      }
      #expect(violations.isEmpty, "\(text): \(violations)")
    }
    #expect(valid * 100 > Self.documents, "the fuzzing reaches accessors: \(valid)")
  }

  /// A declaration that was made in code and never checked.
  @Test func `A wrong declaration never authorizes`() throws {
    var declaration = AccessorDeclaration("x", summary: "s", .nodes(["/etc/passwd"]))
    let root = FakeSystem(credentials: Credentials(uid: 0, gid: 0, groups: []))
    root.add("/etc/passwd")
    func status() -> AuthorizationStatus {
      DeclaredAccessor(declaration, AccessContext(system: root), analytics: .discard)
        .checkAccess().status
    }
    #expect(status() == .notDetermined)
    declaration.place = .directory("etc")
    #expect(status() == .notDetermined)
    declaration.place = .userFolder("nothing")
    #expect(status() == .notDetermined)
    var registry = AccessorRegistry.shipped
    #expect(throws: PermissionError.self) { try registry.add(declaration) }
    declaration = AccessorDeclaration("photos", summary: "s", .directory("/"))
    #expect(throws: PermissionError.self) { try registry.add(declaration) }
  }
}
