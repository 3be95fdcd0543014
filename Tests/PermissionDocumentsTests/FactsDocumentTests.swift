import Foundation
import JSONSyntax
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// Saved facts: what an older version wrote is read for ever, and what is wrong is refused.
@Suite struct FactsDocumentTests {
  static func golden(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    return Array(try Data(contentsOf: folder.appending(path: name)))
  }

  @Test func `The first version of a document is judged as it was then`()
    throws
  {
    let document = try FactsDocument(Self.golden("facts-1.json"))
    let explanation = Explanation(
      Inspection(saved: document.facts, subject: document.subject, targets: document.targets))
    let resources = explanation.reports.flatMap(\.resources)
    #expect(resources.map(\.status) == [.denied, .denied, .unavailable, .authorized])
    #expect(
      resources.map { $0.decision?.rule } == [.otherBits, .otherBits, .missing, .otherBits])
    #expect(resources[0].decision?.component == "/srv/gold/album/a.jpg")
    #expect(document.subject.name == "www-data")
  }

  @Test func `Every member of version 1 is read`() throws {
    let document = try FactsDocument(Self.golden("facts-1-all.json"))
    let credentials = document.subject.credentials
    #expect(document.subject.source == .process && document.subject.name == "ada")
    #expect(credentials.effective == .all && credentials.permitted.rawValue == 6)
    #expect(credentials.noSetUIDFixup && credentials.userNamespace?.users.outside(1) == 100_001)
    let facts = document.facts
    #expect(!facts.readerIsSubject && facts.sysctls.protectedRegular == 2)
    #expect(facts.overflow?.uidIsMapped == false && facts.overflow?.gidIsMapped == true)
    #expect(facts.deviceCgroup?.exceptions.first?.minor == nil)
    #expect(facts.landlock.first?.allowed[1] == [.readFile, .readDirectory])
    let mount = facts.mounts[0]
    #expect(mount.id == 21 && mount.flags == .noDevices && mount.superblockIsReadOnly)
    #expect(mount.idMapping != nil && mount.idMappingIsUnreadable && mount.mayBelongToNamespace)
    #expect(mount.point == "/dev" && mount.superblockOptions == "rw,size=10")
    let (folder, node) = (facts.inodes[0], facts.inodes[1])
    #expect(folder.entries.map(\.found) == [.inode(1), .unreadable(.EACCES), .missing])
    #expect(folder.entries[0].name.bytes == [0x61, 0xff] && folder.entriesAreComplete)
    #expect(folder.defaultACL?.entries.count == 3)
    #expect(node.device == DeviceNumber(major: 81, minor: 3) && node.driverErrno == .ENXIO)
    #expect(node.aclError == .EACCES && node.hasACLs == true && node.isImmutable)
    #expect(node.isAppendOnly && node.jump == 0 && node.target == "pipe:[1]")
    let resource = document.targets[0].set.resources[0]
    #expect(resource.need == [.read, .write] && resource.lesserNeed == .read)
    #expect(resource.kind == .characterDevice && document.targets[0].name == "camera")
  }

  @Test func `What is read is written again`() throws {
    for name in ["facts-1.json", "facts-1-all.json"] {
      let document = try FactsDocument(Self.golden(name))
      let again = try FactsDocument(Array(document.text.utf8))
      #expect(again.facts == document.facts && again.targets == document.targets)
      #expect(again.subject == document.subject)
      // Nothing that the file has is lost.
      let old = try JSONReader().value(from: Self.golden(name))
      let new = try JSONReader().value(from: Array(document.text.utf8))
      for member in ["credentials", "facts", "targets"] {
        #expect(Self.sorted(old[member] ?? .null) == Self.sorted(new[member] ?? .null))
      }
    }
  }

  private static func sorted(_ value: JSONValue) -> String {
    JSONWriter(sortsKeys: true).text(value)
  }

  @Test(arguments: ["hasACLs", "readerIsSubject", "mayBelongToNamespace"])
  func `A member that was added later has its default`(member: String) throws {
    let whole = try JSONReader().value(from: Self.golden("facts-1-all.json"))
    let document = try FactsDocument(JSONWriter().bytes(Self.without(member, whole)))
    #expect(!document.facts.readerIsSubject)
    #expect(document.facts.mounts.map(\.mayBelongToNamespace) == [true])
  }

  /// A document without a fact must not be judged as if the fact were harmless.
  @Test(arguments: [
    "flags", "superblockIsReadOnly", "idMappingIsUnreadable", "isUnreadable", "isImmutable",
    "entriesAreComplete", "entries", "parent", "mount", "start", "landlock", "sysctls",
    "permitted", "noSetUIDFixup", "uidIsMapped", "id", "label",
  ])
  func `A member that version 1 always wrote must be there`(member: String) throws {
    let whole = try JSONReader().value(from: Self.golden("facts-1-all.json"))
    let document = JSONWriter().bytes(Self.without(member, whole))
    let error = #expect(throws: DocumentError.self) { try FactsDocument(document) }
    #expect(
      error?.message.contains("expected a member \(member)") == true, "\(error?.message ?? "")")
  }

  @Test func `A document without resources is read`() throws {
    let text = String(decoding: try Self.golden("facts-1-all.json"), as: UTF8.self)
    let start = try #require(text.range(of: "\"facts\":"))
    let end = try #require(text.range(of: ",\"targets\":"))
    let empty = """
      "facts":{"root":0,"start":0,"sysctls":{},"landlock":[],"mounts":[],"inodes":[]},\
      "targets":[{"name":"camera","resources":[]}]}
      """
    let bytes = Array((text[..<start.lowerBound] + empty).utf8)
    #expect(end.lowerBound > start.lowerBound)
    let document = try FactsDocument(bytes)
    #expect(document.targets.map(\.name) == ["camera"])
  }

  @Test func `An unknown member is ignored`() throws {
    let text = String(decoding: try Self.golden("facts-1.json"), as: UTF8.self)
    let more = text.replacing(
      "\"schemaVersion\":1", with: "\"schemaVersion\":1,\"new\":{\"a\":[1]}")
    #expect(more != text)
    #expect(throws: Never.self) { try FactsDocument(Array(more.utf8)) }
  }

  private static func without(_ member: String, _ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map { without(member, $0) })
    case .object(let object):
      let members = object.members.filter { $0.key != member }
      return .object(JSONObject(members.map { ($0.key, without(member, $0.value)) }))
    case .null, .bool, .number, .string: return value
    }
  }

  @Test(arguments: [
    ("", "is not valid JSON"), ("{", "is not valid JSON"),
    ("{}", "has no schemaVersion instead of schemaVersion 1"), ("[]", "(no object)"),
    (#"{"schemaVersion":2}"#, "has schemaVersion 2 instead of schemaVersion 1"),
    (#"{"schemaVersion":1.0}"#, "has schemaVersion 1.0 instead"),
    (#"{"schemaVersion":"1"}"#, "has schemaVersion \"1\" instead"),
    (#"{"schemaVersion":1}"#, "expected a member credentials"),
    (#"{"schemaVersion":1,"credentials":[]}"#, "credentials: expected an object"),
  ])
  func `A mistake is named`(text: String, message: String) {
    let error = #expect(throws: DocumentError.self) { try FactsDocument(Array(text.utf8)) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `A wrong value is named by its place`() throws {
    let text = String(decoding: try Self.golden("facts-1-all.json"), as: UTF8.self)
      .replacing("\"major\":81,\"minor\":3", with: "\"major\":81,\"minor\":-3")
    let error = #expect(throws: DocumentError.self) { try FactsDocument(Array(text.utf8)) }
    #expect(
      error?.message.contains("facts.inodes.1.device.minor: expected a whole number") == true,
      "\(error?.message ?? "")")
  }

  /// Broken documents never crash, and what can still be read can be judged.
  @Test func `Garbage is refused or judged`() throws {
    let sample = try Self.golden("facts-1-all.json")
    let nobody = Credentials(uid: 4_000_000, gid: 4_000_000, groups: [])
    var random = SeededNumbers("facts")
    var read = 0
    let documents = Effort.of(5_000, atLeast: 250)
    for _ in 0..<documents {
      var bytes = sample
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0x20...0x7e, using: &random)
        case 1: bytes.remove(at: place)
        default:
          bytes.insert(UInt8(ascii: "0") + UInt8.random(in: 0...9, using: &random), at: place)
        }
      }
      guard let document = try? FactsDocument(bytes) else { continue }
      read += 1
      let evaluator = AccessEvaluator(facts: document.facts, credentials: nobody)
      for path: PathBytes in ["/a", "a/../b", "/d", "/c", "/a/x"] {
        _ = evaluator.explain(.open(.readWrite), path: path)
        _ = evaluator.explain(.faccessat2(.all, followsLink: true), path: path)
        for inode in document.facts.inodes.indices { _ = document.facts.path(of: inode) }
      }
    }
    #expect(read * 50 > documents)
  }
}
