import Foundation
@_spi(SystemCalls) import PermissionKit
import Synchronization
import TestSupport
import Testing

/// The question at a terminal, and what becomes of it when nobody waits for the request any more.
@Suite(.blocking) struct ConsentTests {
  /// A terminal whose input is a pipe and whose output is kept.
  private final class Terminal: ForwardingSystem {
    struct State {
      var output = ""
      var interruptions: [Errno] = []
      var isBroken = false
    }
    let state = Mutex(State())
    let input = Pipe()
    let beforeWait: (@Sendable () -> Void)?

    init(typed: String = "", beforeWait: (@Sendable () -> Void)? = nil) {
      self.beforeWait = beforeWait
      input.fileHandleForWriting.write(Data(typed.utf8))
    }

    private var keyboard: Descriptor {
      Descriptor(rawValue: input.fileHandleForReading.fileDescriptor)
    }
    func isatty(_ descriptor: Descriptor) -> Bool { true }
    func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
      guard descriptor == .standardError else { return try LinuxSystem().write(descriptor, bytes) }
      if state.withLock(\.isBroken) { throw .EIO }
      state.withLock { $0.output += String(decoding: bytes, as: UTF8.self) }
      return bytes.count
    }
    func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
      try LinuxSystem().read(descriptor == .standardInput ? keyboard : descriptor, count)
    }
    func poll(_ requests: [PollRequest], timeout: Int32?) throws(Errno) -> [PollEvents] {
      if let errno = state.withLock({ $0.interruptions.popLast() }) { throw errno }
      beforeWait?()
      var requests = requests
      for index in requests.indices where requests[index].descriptor == .standardInput {
        requests[index].descriptor = keyboard
      }
      return try LinuxSystem().poll(requests, timeout: timeout)
    }
    var output: String { state.withLock(\.output) }
  }

  private func ask(_ terminal: Terminal, _ withdrawal: Withdrawal = Withdrawal()) -> Bool {
    withdrawal.asCurrent { TerminalConsent(system: terminal).ask("Change it.\n") }
  }

  @Test(arguments: [
    ("y\n", true), ("YES\n", true), ("n\n", false), ("\n", false), ("yes please\n", false),
  ])
  func `The answer of the person counts`(_ typed: String, _ isYes: Bool) {
    let terminal = Terminal(typed: typed)
    #expect(ask(terminal) == isYes)
    #expect(terminal.output == "Change it.\nDo it? [y/N] ")
    // Outside of a gate nothing can be taken back.
    #expect(TerminalConsent(system: Terminal(typed: typed)).ask("") == isYes)
  }

  @Test func `A question that is taken back is not answered`() {
    let before = Withdrawal()
    #expect(before.withdraw())
    let terminal = Terminal(typed: "y\n")
    #expect(!ask(terminal, before))
    #expect(terminal.output.hasSuffix("\nno longer asked\n"))

    let meanwhile = Withdrawal()
    let waiting = Terminal(beforeWait: { #expect(meanwhile.withdraw()) })
    #expect(!ask(waiting, meanwhile))
    #expect(waiting.output.hasSuffix("\nno longer asked\n"))
    #expect(throws: PermissionError.self) { try meanwhile.checkIsOpen() }
    #expect(throws: PermissionError.self) { try meanwhile.beginChange() }
  }

  @Test func `A change that has begun is not taken back`() throws {
    let withdrawal = Withdrawal()
    try withdrawal.beginChange()
    #expect(!withdrawal.withdraw())
    try withdrawal.checkIsOpen()
  }

  @Test func `A signal does not end the question`() {
    let terminal = Terminal(typed: "y\n")
    terminal.state.withLock { $0.interruptions = [.EINTR, .EINTR] }
    #expect(ask(terminal))
    // Where nothing can be waited for, the answer is read at once.
    let poor = Terminal(typed: "y\n")
    poor.state.withLock { $0.interruptions = [.EIO] }
    #expect(ask(poor))
  }

  @Test func `A question that cannot be printed is a no`() {
    let terminal = Terminal(typed: "y\n")
    terminal.state.withLock { $0.isBroken = true }
    #expect(!ask(terminal))
  }
}
