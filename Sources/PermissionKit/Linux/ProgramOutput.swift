internal import CCap
internal import Glibc

/// The output and the end of a program that was run with a standard input.
@_spi(SystemCalls) public struct ProgramOutput: Hashable, Sendable {
  /// How a program ended.
  public enum End: Hashable, Sendable {
    /// The program ended; nil if another part of this process waited for it.
    case ended(ProcessEnd?)
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
    _ program: PathBytes, environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput {
    var answers: Int32 = -1
    let result = try unsafe withArguments(environment) { environment in
      unsafe withCString(program) { program in
        unsafe input.withUnsafeBytes { bytes in
          unsafe ccap_run_program(
            program, environment, bytes.baseAddress, bytes.count, mayGainPrivileges ? 1 : 0,
            &answers)
        }
      }
    }
    let pid = try check(result)
    let pipe = Descriptor(rawValue: answers)
    defer { close(pipe) }
    let child = try? pidfd_open(pid)
    defer { if let child { close(child) } }
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
        (isOpen ? [PollRequest(pipe, .readable)] : [])
        + (child.map { [PollRequest($0, .readable)] } ?? [])
      // Without pidfd_open(2), the end shows by looking.
      let events = try? poll(requests, timeout: Int32(child == nil ? min(left, 20) : left))
      if isOpen, events?.first?.isEmpty == false {
        guard let part = try? read(pipe, 1 << 14), !part.isEmpty else {
          isOpen = false
          continue
        }
        output += part
        if output.count > size { end = .long }
      } else if child == nil ? hasEnded(pid) : events?.last?.isEmpty == false {
        // What a process that it left behind may still write is no answer.
        isOver = true
        isOpen = false
      }
    }
    let (isKnown, status) = finish(pid, child)
    return ProgramOutput(output: output, end: end ?? (isKnown ? .ended(status) : .late))
  }

  /// Kills the child and its group.
  ///
  /// - Returns: Whether the child has ended, and how; nil if another part of this process waited for it.
  private func finish(_ pid: Int32, _ child: Descriptor?) -> (Bool, ProcessEnd?) {
    // The number of the group stays taken until the child is waited for.
    if ccap_has_ended(pid) >= 0 {
      _ = try? kill(-pid, SIGKILL)
      // It may have joined another group.
      _ = try? kill(pid, SIGKILL)
    }
    // What took on other ids cannot be killed and is not waited for.
    for _ in 0..<20 {
      do throws(Errno) {
        if let status = try waitpid(pid, waits: false) { return (true, status) }
      } catch {
        return (true, nil)
      }
      _ = try? poll(child.map { [PollRequest($0, .readable)] } ?? [], timeout: 10)
    }
    return (false, nil)
  }

  /// Returns whether a child has ended, and leaves it for waitpid(2).
  private func hasEnded(_ pid: Int32) -> Bool {
    ccap_has_ended(pid) != 0
  }
}
