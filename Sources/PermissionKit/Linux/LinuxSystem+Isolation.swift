internal import CCap
internal import Glibc

// For a program that root runs for an ordinary user.

extension LinuxSystem {
  /// Gives up everything that execve(2) kept of the process that started this one, except standard
  /// output: environment, descriptors, signals, timers, limits, umask, working directory, terminal,
  /// priority and cgroup.
  ///
  /// - Parameter seconds: The time after which SIGALRM ends this process.
  /// - Throws: If a standard descriptor or the working directory cannot be set.
  package func isolate(seconds: UInt32) throws(Errno) {
    _ = try check(ccap_isolate(seconds))
    // A user may freeze or starve a cgroup that systemd delegated to that user.
    for folder: PathBytes in ["/sys/fs/cgroup", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/memory"] {
      set("0", in: folder.appending("cgroup.procs"))
    }
    set("0", in: "/proc/self/oom_score_adj")
  }

  /// Raises the soft limit of open files to the hard limit, see getrlimit(2).
  package func raiseFileLimit() { ccap_raise_file_limit() }

  /// Writes a value to a file of the kernel, if there is such a file.
  private func set(_ value: String, in path: PathBytes) {
    guard let file = try? openat(.currentDirectory, path, .writeOnly, mode: 0) else { return }
    defer { close(file) }
    _ = try? write(file, Array(value.utf8))
  }

  /// _exit(2): ends this process without calling anything else.
  package func exit(_ status: Int32) -> Never { _exit(status) }

  /// Forks a process that keeps no descriptor and has no time limit, for a program without threads.
  ///
  /// - Returns: Whether this is the new process.
  /// - Throws: The errno of fork(2).
  package func forkDetached() throws(Errno) -> Bool { try check(ccap_fork_detached()) == 0 }
}
