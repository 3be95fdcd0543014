import Foundation
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// The journal cannot be written: whatever call fails, and however, nothing is half done or lost.
@Suite(.blocking) struct JournalFaultTests {
  static let errors: [Errno] = Effort.isFull ? [.ENOSPC, .EIO, .EROFS] : [.EIO]
  static let games: UInt32 = 54_331
  static let daemon: UInt32 = 54_332

  /// Two folders of this user that are to change, one of them with an ACL and a mask.
  struct Album {
    let tree: Tree
    let shut: PathBytes
    let album: PathBytes
    let journal: PathBytes
    var folder: PathBytes { PathBytes(tree.path("state")) }

    init() throws {
      tree = try Tree()
      try tree.folder("shut/album", mode: 0o750)
      try tree.folder("shut", mode: 0o700)
      try tree.setfacl(["-m", "u:7:rwx,g:7:rw,m:r"], "shut/album")
      shut = PathBytes(tree.path("shut"))
      album = PathBytes(tree.path("shut/album"))
      journal = PathBytes(tree.path("state/permcheck/grants.jsonl"))
    }

    /// Mode and ACL of both, bit by bit.
    func state() throws -> [[UInt8]] {
      let system = LinuxSystem()
      return try [shut, album].flatMap { path in
        let file = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
        defer { system.close(file) }
        let mode = try system.statx(file).mode
        let acl = (try? system.getxattr(.access, of: file)) ?? []
        return [[UInt8(mode & 0xff), UInt8(mode >> 8)], acl]
      }
    }

    func plan(_ uid: UInt32, _ journaled: GrantLedger) throws(PermissionError) -> GrantPlan? {
      let subject = try UserDatabase(LinuxSystem()).subject(.ids(uid: uid, gid: uid, groups: []))
      var context = AccessContext(subject: subject)
      context.path = album
      return try PhotoLibraryAccessor(context).grantPlan(journaled)
    }

    /// Returns whether every line was written.
    @discardableResult
    func request(_ uid: UInt32, _ system: any System = LinuxSystem()) throws -> Bool {
      let made = try GrantJournal(journal, system: system).carryOut {
        (journaled) throws(PermissionError) in try plan(uid, journaled)?.grants() ?? []
      }
      #expect(made.grants.count == 2)
      return made.notes.isEmpty
    }

    @discardableResult
    func revoke(
      _ uid: UInt32, _ system: any System = LinuxSystem()
    ) throws -> GrantJournal.Outcome {
      try GrantJournal(journal, system: system).undo { $0.uid == uid }
    }

    /// For whom the journal has grants, after the next run has looked at it.
    func listed() throws -> [UInt32] {
      let outcome = try GrantJournal(journal).recover()
      #expect(outcome.notes.isEmpty)
      let grants = try GrantJournal(journal).grants()
      #expect(grants.allSatisfy { $0.stage == .active })
      return grants.map(\.uid)
    }
  }

  @Test(arguments: FaultySystem.Fault.allCases)
  func `After any fault a request is made whole or not at all`(
    _ fault: FaultySystem.Fault
  ) throws {
    var faults = 0
    for isFirst in Effort.isFull ? [true, false] : [false] {
      for errno in Self.errors {
        let album = try Album()
        let clean = try album.state()
        if !isFirst { try album.request(Self.daemon) }
        let before = try album.state()
        for number in stride(from: 1, to: .max, by: Effort.isFull ? 1 : 5) {
          let system = FaultySystem(album.folder, failing: number, fault, errno)
          do {
            let isWhole = try album.request(Self.games, system)
            if system.calls.count < number { break }
            // The lines are written, but perhaps not on the disk.
            try #require(!isWhole, "call \(number) failed, and nobody noticed")
            faults += 1
            try album.revoke(Self.games)
          } catch let error as PermissionError {
            faults += 1
            #expect(error.errno == errno || error.message.contains("\(errno)"), "\(error)")
            #expect(error.path == album.journal)
          }
          let what = Comment(rawValue: "\(fault) \(errno) of \(system.calls), call \(number)")
          #expect(try album.state() == before, what)
          #expect(try album.listed() == (isFirst ? [] : [Self.daemon, Self.daemon]), what)
          #expect(try album.state() == before, what)
          // The next one works, and can be taken back.
          try album.request(Self.games)
          #expect(try album.state() != before, what)
          try album.revoke(Self.games)
          #expect(try album.state() == before, what)
          if isFirst { try? FileManager.default.removeItem(atPath: album.tree.path("state")) }
        }
        try album.revoke(Self.games)
        try album.revoke(Self.daemon)
        #expect(try album.state() == clean)
        #expect(try album.listed().isEmpty)
      }
    }
    #expect(faults > (Effort.isFull ? 40 : 2))
    print("journal faults: request, \(fault): \(faults)")
  }

  @Test(arguments: FaultySystem.Fault.allCases)
  func `A killed revocation is finished by the next operation`(
    _ fault: FaultySystem.Fault
  ) throws {
    var faults = 0
    for errno in Self.errors {
      let album = try Album()
      let clean = try album.state()
      try album.request(Self.games)
      try album.request(Self.daemon)
      let both = try album.state()
      for number in stride(from: 1, to: .max, by: Effort.isFull ? 1 : 5) {
        let system = FaultySystem(album.folder, failing: number, fault, errno)
        do {
          let outcome = try album.revoke(Self.games, system)
          if system.calls.count < number { break }
          faults += 1
          // What is taken back is taken back, whatever becomes of the journal.
          #expect(outcome.grants.count == 2)
          #expect(try album.state() != both)
        } catch is PermissionError {
          faults += 1
        }
        let what = Comment(rawValue: "\(fault) \(errno) of \(system.calls), call \(number)")
        let listed = try album.listed()
        // What is not recorded is found to be over.
        if listed.contains(Self.games) { try album.revoke(Self.games) }
        let alone = try album.state()
        #expect(try album.listed() == [Self.daemon, Self.daemon], what)
        // Back to both, in the same order.
        try album.revoke(Self.daemon)
        #expect(try album.state() == clean, what)
        try album.request(Self.daemon)
        #expect(try album.state() == alone, what)
        try album.revoke(Self.daemon)
        try album.request(Self.games)
        try album.request(Self.daemon)
        #expect(try album.state() == both, what)
      }
      try album.revoke(Self.daemon)
      #expect(try album.state() == clean)
      #expect(try album.listed().isEmpty)
    }
    #expect(faults > (Effort.isFull ? 20 : 2))
    print("journal faults: revoke, \(fault): \(faults)")
  }

  /// Somebody else sets an entry between any two reads of the ACL: it is lost after the last one alone.
  @Test func `Row 18: A change between reading and writing`()
    throws
  {
    var changed = 0
    for undoes in [false, true] {
      var lost: [Int] = []
      for number in stride(from: 1, to: .max, by: Effort.isFull ? 1 : 5) {
        let album = try Album()
        let path = album.album.description
        if undoes { try album.request(Self.games) }
        let system = FaultySystem(album.folder)
        system.after(read: number) {
          _ = try? Command.run(["setfacl", "-m", "u:9:r", path])
        }
        if undoes {
          try album.revoke(Self.games, system)
        } else {
          _ = try? album.request(Self.games, system)
        }
        if system.reads < number { break }
        let acl = try Command.run(["getfacl", "-cnp", path]).output
        if acl.contains("user:9:r--") { changed += 1 } else { lost.append(number) }
        if !undoes { try album.revoke(Self.games) }
        let left = try Command.run(["getfacl", "-cnp", path]).output
        #expect(!left.contains("user:\(Self.games)"), "after read \(number): \(left)")
      }
      // The kernel has no exchange of ACLs: one read is immediately before the write.
      #expect(lost.count <= 1, "lost after reads \(lost)")
    }
    #expect(changed > (Effort.isFull ? 5 : 1))
  }
}
