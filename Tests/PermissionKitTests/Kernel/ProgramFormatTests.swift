import Testing

@testable import PermissionKit

/// The edges of load_script(), which random scripts seldom meet; ExecTests asks the kernel.
struct ProgramFormatTests {
  private func format(_ text: String) -> ProgramFormat {
    ProgramFormat(Array(text.utf8), isWhole: true, machine: 62)
  }

  @Test func `The buffer of the kernel has 256 bytes`() {
    let name = "/" + String(repeating: "x", count: 252)
    #expect(format("#!\(name)\n") == .script(PathBytes(name)))
    #expect(format("#!\(name)xy\n") == .other)
    #expect(format("#! \(name.dropLast(3)) y\n") == .script(PathBytes(String(name.dropLast(3)))))
  }

  @Test func `Blanks and zeros end a name`() {
    #expect(format("#! \t/bin/sh\t-e \n") == .script("/bin/sh"))
    #expect(format("#!/bin/sh") == .script("/bin/sh"))
    #expect(format("#!\0/bin/sh\n") == .script("."))
    for text in ["#!", "#!\n/bin/sh", "#! \t\n", "# !/bin/sh\n", ""] {
      #expect(format(text) == .other || format(text) == .script("."), "\(text)")
    }
  }
}
