import Foundation
import TestSupport
import Testing

/// A program that runs cannot be written (ETXTBSY): for whomever it is asked, the one who runs it is named.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct RunningProgramTests {
  static let ways = [
    "as 54321 $P explain $F --need w", "$P explain $F --need w --user 54321",
    "$P explain $F --need w", "as 54321 $P explain $F --to truncate",
    "$P explain $F --to truncate --user 54321",
  ]

  @Test(arguments: Effort.some(ways, of: "RunningProgramTests The named", atLeast: 2))
  func `The processes that run a program are named`(_ way: String) throws {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try PrivateJournal(environment: ["T": tree.root], limit: 60).expect(
      """
      F=$T/program; cp "$(command -v sleep)" $F; chmod 777 $F
      private_etc; echo 'guest:x:54321:54321::/:/bin/sh' >>/etc/passwd
      as 54321 $F 60 & becomes pgrep -x program; pid=$(pgrep -x program)
      # Linux 6.11 let everybody write to it.
      if (: >>$F) 2>/dev/null; then kill $pid; exit 0; fi
      status=0; \(way) >$OUT.o || status=$?
      [ $status = 1 ] || fail "it is refused: $status $(cat $OUT.o)"
      grep -q "^why: program (pid $pid, user .*) runs $F now, so nobody may write to it (ETXTBSY)" $OUT.o ||
        fail "named: $(cat $OUT.o)"
      kill $pid; wait || :
      \(way) >$OUT.o || fail "it has ended: $(cat $OUT.o)"
      """)
  }
}
