internal import CCap

/// The output and the end of a program that was run with a standard input.
@_spi(SystemCalls) public struct ProgramOutput: Hashable, Sendable {
  /// How a program ended.
  public enum End: Hashable, Sendable {
    /// The program ended.
    case ended(ProcessEnd)
    /// The program was still running when its time was over, and was killed.
    case late
    /// The program wrote more than it may, and was killed.
    case long
  }

  /// The bytes of its standard output.
  public let output: [UInt8]
  /// How it ended.
  public let end: End

  /// Creates the output of a program.
  public init(output: [UInt8], end: End) {
    self.output = output
    self.end = end
  }
}

extension LinuxSystem {
  /// Asks a program, see `System.runProgram`.
  ///
  /// The kernel kills the program with the thread that started it (PR_SET_PDEATHSIG of prctl(2)), which
  /// is this one and waits here until the end.
  package func runProgram(
    _ arguments: [PathBytes], environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput {
    var (pid, answers): (Int32, Int32) = (-1, -1)
    let result = try unsafe withArguments(environment) { (environment) throws(Errno) in
      try unsafe withArguments(arguments) { (arguments) throws(Errno) in
        unsafe input.withUnsafeBytes { bytes in
          unsafe ccap_run_program(
            arguments, environment, bytes.baseAddress, bytes.count, mayGainPrivileges ? 1 : 0, &pid,
            &answers)
        }
      }
    }
    let child = Descriptor(rawValue: try check(result))
    let pipe = Descriptor(rawValue: answers)
    defer { close(pipe) }
    let deadline = monotonic() + Int64(timeout) * 1000
    var output: [UInt8] = []
    var (isOpen, isOver) = (true, false)
    var end: ProgramOutput.End?
    while end == nil, isOpen || !isOver {
      let left = (deadline - monotonic() + 999) / 1000
      guard left > 0 else {
        end = .late
        break
      }
      let requests =
        [PollRequest(child, .readable)] + (isOpen ? [PollRequest(pipe, .readable)] : [])
      guard let events = try? poll(requests, timeout: Int32(left)) else { continue }
      if isOpen, events.last?.isEmpty == false {
        guard let part = try? read(pipe, 1 << 14), !part.isEmpty else {
          isOpen = false
          continue
        }
        output += part
        if output.count > size { end = .long }
      } else if events.first?.isEmpty == false {
        // What a process that it left behind may still write is no answer.
        (isOpen, isOver) = (false, true)
      }
    }
    let status = ccap_end_program(child.rawValue, pid)
    if let end { return ProgramOutput(output: output, end: end) }
    return ProgramOutput(
      output: output,
      end: status < 0 ? .late : .ended(status < 256 ? .exited(status) : .signalled(status - 256)))
  }
}
