import Foundation
import TestSupport
import Testing

/// The progress of a check of several accessors, which a person at a terminal sees after a second.
@Suite(.blocking) struct ProgressTests {
  /// A file system that takes its time: a folder of this name is opened after three seconds.
  private static let slow = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdarg.h>
    #include <string.h>
    #include <time.h>
    int openat(int fd, const char *path, int flags, ...) {
      static int (*next)(int, const char *, int, int);
      static int once;
      if (!next) next = dlsym(RTLD_NEXT, "openat");
      if (strstr(path, "slow") && !once++) nanosleep(&(struct timespec){3, 0}, 0);
      va_list rest;
      va_start(rest, flags);
      int mode = va_arg(rest, int);
      va_end(rest);
      return next(fd, path, flags, mode);
    }
    """

  /// Runs permcheck; on a terminal if wanted.
  private static func run(_ options: [String], onTerminal: Bool) throws -> Outcome {
    let tree = try Tree()
    try tree.file("slow.c", slow)
    try tree.folder("slow")
    let library = tree.path("slow.so")
    let built = try Command.run([
      "cc", "-shared", "-fPIC", "-w", "-o", library, tree.path("slow.c"),
    ])
    #expect(built.status == 0, "\(built.errors)")
    let command = [Command.permcheck, "camera", "photos=" + tree.path("slow")] + options
    return try Command.run(
      (onTerminal ? ["/usr/bin/python3", "-c", TerminalTests.terminal, "200"] : []) + [
        "env", "LD_PRELOAD=" + library,
      ] + command, environment: ["LC_ALL": "C.UTF-8", "NO_COLOR": "1"])
  }

  @Test func `A slow check shows its progress`() throws {
    let shown = try Self.run([], onTerminal: true).output
    #expect(shown.contains("\r2/2 photos="), "\(shown)")
    // Nothing of it stays.
    let last = shown.components(separatedBy: "\r\u{1b}[K").last ?? ""
    #expect(!last.contains("2/2") && last.contains("photos "), "\(shown)")
  }

  @Test(.full("it waits for a slow audit")) func `No progress is shown without a terminal`() throws
  {
    let quiet = try Self.run(["-q"], onTerminal: true)
    let piped = try Self.run([], onTerminal: false)
    #expect(quiet.output.isEmpty, "\(quiet)")
    #expect(!piped.output.contains("2/2") && !piped.errors.contains("2/2"), "\(piped)")
  }
}
