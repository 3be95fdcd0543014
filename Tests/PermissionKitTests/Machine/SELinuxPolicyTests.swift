import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// The answers of /sys/fs/selinux/access; the policy itself is asked in the lab's scenario `selinux`.
@Suite struct SELinuxPolicyTests {
  @Test func `An answer of the policy is parsed`() throws {
    let answer = try #require(SELinuxPolicy.answer("20001 ffffffff 0 ffffffff 3 0\n"))
    #expect(answer.allowed == 0x20001 && !answer.isPermissive)
    #expect(try #require(SELinuxPolicy.answer("0 ffffffff 0 ffffffff 3 1")).isPermissive)
    for text in ["", "0", "x ffffffff 0 ffffffff 3 0", "0 ffffffff 0 ffffffff 3", "1 2 3 4 5 6 7"] {
      #expect(SELinuxPolicy.answer(text) == nil, "\(text)")
    }
  }

  @Test func `Without the policy nothing is known`() {
    let policy = SELinuxPolicy(system: FakeSystem())
    #expect(policy.missing("a:b:c_t:s0", "a:b:d_t:s0", "file", ["read"]) == nil)
  }
}
