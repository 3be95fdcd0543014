import Foundation
import TestSupport
import Testing

/// Shell scripts that see an empty /var/lib of their own, so that root's journal is theirs.
struct PrivateJournal {
  /// What the script finds in its environment besides `PERMCHECK`, the program.
  var environment: [String: String?] = [:]
  /// How long the script may take, in seconds, if what it starts could wait without an end: then it has
  /// processes of its own, which end with it.
  var limit: Int?

  /// Runs a script by bash, which ends at the first command that fails.
  ///
  /// It finds: `P`, permcheck; `H`, permcheck-helper; `J`, the journal; `as UID …`, run as nobody else; `$G …`, run
  /// as user 5 (games) with a journal of its own; `own PATH`, which becomes that user's, closed to all; `private_etc`; `becomes COMMAND…`; `state PATH…`, mode and
  /// ACLs; `same A B WHAT`; `fail TEXT`.
  func run(_ script: String, _ arguments: [String] = []) throws -> Outcome {
    let head = """
      set -euo pipefail
      mount -t tmpfs -o mode=755 tmpfs /var/lib
      P=$PERMCHECK H=$HELPER J=/var/lib/permcheck/grants.jsonl
      fail() { echo "FAIL: $*" >&2; exit 99; }
      same() { [ "$1" = "$2" ] || fail "$3: '$1' is not '$2'"; }
      state() { getfacl -pn -- "$@"; stat -c %a -- "$@"; }
      as() { local id=$1; shift; setpriv --reuid "$id" --regid "$id" --clear-groups --inh-caps=-all "$@"; }
      is() { local want=$1 got=0; shift; "$@" >"$OUT.o" 2>"$OUT.e" </dev/null || got=$?
        [ "$got" = "$want" ] || fail "$* ended with $got, not $want: $(cat "$OUT.o" "$OUT.e")"; }
      # What is waited for comes, or the test ends.
      becomes() { for i in $(seq 1500); do "$@" >/dev/null 2>&1 && return; sleep 0.02; done; fail "never: $*"; }
      OUT=$(mktemp); trap 'rm -rf "$OUT" "$OUT.o" "$OUT.e" "$OUT.s"' EXIT
      G="setpriv --reuid 5 --regid 5 --clear-groups --inh-caps=-all env HOME=$OUT.s XDG_STATE_HOME=$OUT.s"
      own() { chown 5:5 "$1"; chmod 000 "$1"; }

      """
    var variables = environment
    variables["PERMCHECK"] = Command.permcheck
    variables["HELPER"] = Command.helper
    let processes =
      limit.map {
        ["timeout", "-k", "5", "\($0)", "unshare", "-pf", "--mount-proc", "--kill-child"]
      } ?? ["unshare"]
    return try Command.run(
      processes + [
        "-m", "--propagation", "private", "bash", "-c", Command.privateEtc + head + script, "bash",
      ]
        + arguments, environment: variables)
  }

  /// Runs a script that must come to its end.
  @discardableResult
  func expect(
    _ script: String, _ arguments: [String] = [], _ location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let outcome = try run(script, arguments)
    #expect(
      outcome.status == 0, "\(outcome.status): \(outcome.errors)\(outcome.output)",
      sourceLocation: location)
    return outcome.output
  }
}
