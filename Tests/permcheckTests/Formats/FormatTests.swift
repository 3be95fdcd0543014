import Foundation
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

@testable import permcheck

/// Every format for other programs, read by a program that was made for it.
@Suite(.blocking) struct FormatTests {
  /// Names that mean something to some reader.
  static let hostile = [
    "plain", "a\"b'c", "two\nlines\r\n", "]]> <b>&amp;</b>", "::error::x", "##[error]x",
    "# SKIP # TODO",
    "a|b=1;2", "\u{1b}[31mred\u{7}", "back\\slash\\", "%0A%25", "ünïcödé 漢字 🎥", "a\u{202e}b",
    "1..0",
    "...", "--- !x", "{}\",\"", "`x` *y* [z](javascript:1)", "a,b:c", "#\u{301}|\u{301}\"\u{301}",
    PathBytes(Array("not UTF-8: ".utf8) + [0xff, 0xfe]).description, "\u{fffe}\u{ffff}", " ", "\t",
  ]

  static func report(_ name: String, _ status: AuthorizationStatus) -> AccessReport {
    let reason = Reason(.otherBits, .proven, "because of \(name)")
    var resource = ResourceReport(
      path: PathBytes("/" + name), label: name, device: name, need: .read, status: status,
      reasons: status == .authorized ? [] : [reason])
    resource.family = status == .unavailable ? .camera : nil
    return AccessReport(
      accessor: name, status: status, resources: [resource], subject: subject,
      time: 1_700_000_000_000_001)
  }

  static let subject = Subject(
    source: .user,
    credentials: Credentials(
      user: .init(real: 1, effective: 1, fileSystem: 1),
      group: .init(real: 1, effective: 1, fileSystem: 1), groups: [],
      effective: CapabilitySet(rawValue: 0), permitted: CapabilitySet(rawValue: 0)),
    name: "o'\"neil\n::", home: nil)

  /// A check with each status under each name.
  static var check: CheckResult {
    var result = CheckResult(
      subject: subject,
      reports: hostile.flatMap { name in AuthorizationStatus.allCases.map { report(name, $0) } },
      status: .refused)
    result.skipsUnavailable = true
    return result
  }

  /// A verification with each outcome under each name.
  static var verification: VerifyResult {
    let outcomes: [(AuthorizationStatus, Verdict.Outcome)] = [
      (.authorized, .holds), (.denied, .fails), (.notDetermined, .undetermined),
      (.unavailable, .skipped),
    ]
    let verdicts = hostile.flatMap { name in
      outcomes.enumerated().map { index, outcome in
        Verdict(
          name: "\(name) \(index)", line: index + 1, who: name, words: ["granted"],
          wanted: "granted", reason: nil, wantsAccess: true, report: report(name, outcome.0),
          outcome: outcome.1)
      }
    }
    return VerifyResult(
      file: "a,b:c.toml", verdicts: verdicts, status: .refused, time: 1_700_000_000_000_001,
      host: "host")
  }

  static func texts(_ form: any ReportFormat.Type) throws -> [String] {
    let format = form.init(Style(colors: false, isUnicode: true, columns: nil), isVerbose: false)
    return [try format.text(check), try format.text(verification)]
  }

  /// Writes a text to a file and runs a command on it.
  static func read(
    _ text: String, by command: [String], name: String = "text"
  ) throws -> Outcome {
    let tree = try Tree()
    try Data(text.utf8).write(to: URL(filePath: tree.path(name)))
    return try Command.run(command + [tree.path(name)])
  }

  static func python(_ program: String, _ text: String) throws -> Outcome {
    try read(text, by: ["/usr/bin/python3", "-c", program])
  }

  static let statuses = AuthorizationStatus.allCases.count

  @Test func `xmllint and a schema accept JUnit's report`() throws {
    let schema = Checkout.path("Tests/permcheckTests/Schemas/JUnit.xsd")
    for text in try Self.texts(JUnitFormat.self) {
      let outcome = try Self.read(text, by: ["xmllint", "--noout", "--schema", schema])
      #expect(outcome.status == 0, "\(outcome.errors)")
      let counts = try Self.python(
        """
        import sys, xml.etree.ElementTree as e
        s = e.parse(sys.argv[1]).getroot()
        c = s.findall('testcase')
        n = lambda x: len([t for t in c if t.find(x) is not None])
        told = [int(s.get(k)) for k in ('tests', 'failures', 'errors', 'skipped')]
        print(told == [len(c), n('failure'), n('error'), n('skipped')], len({t.get('name') for t in c}))
        """, text)
      #expect(counts.output.hasPrefix("True "), "\(counts)")
    }
  }

  @Test func `prove(1) accepts the TAP report`() throws {
    for (text, bad) in zip(try Self.texts(TAPFormat.self), [3, 2]) {
      let outcome = try Self.read(text, by: ["prove", "--merge", "--exec", "cat"], name: "x.tap")
      let count =
        text.components(separatedBy: "\n").first { $0.hasPrefix("1..") }?.dropFirst(3) ?? ""
      #expect(
        outcome.output.contains("Tests: \(count) Failed: \(bad * Self.hostile.count))"),
        "\(outcome.output.suffix(300))")
      #expect(!outcome.output.contains("Parse errors"), "\(outcome.output.suffix(300))")
      #expect(!outcome.output.contains("TODO passed"), "\(outcome.output.suffix(300))")
      let blocks = try Self.python(
        """
        import sys, yaml
        blocks = open(sys.argv[1]).read().split('\\n  ---\\n')[1:]
        for b in blocks: assert yaml.safe_load(b.split('\\n  ...\\n')[0])['status']
        print(len(blocks))
        """, text)
      #expect(blocks.output == "\(bad * Self.hostile.count)\n", "\(blocks.errors)")
    }
  }

  /// The rules of the runner (ActionCommand.cs): `::` at the start of a line, `##[` anywhere in it.
  @Test func `A GitHub runner sees only our commands`() throws {
    let program = """
      import re, sys
      lines = open(sys.argv[1], newline='').read().split('\\n')
      assert not any('\\r' in l or '##[' in l for l in lines), 'not ours'
      found = [re.fullmatch(r'::(error|notice) (.*?)::(.*)', l) for l in lines if l.lstrip().startswith('::')]
      assert all(found), 'a command of somebody else'
      for m in found:
          for p in m[2].split(','):
              assert re.fullmatch(r'(file|line|title)=[^:,]*', p), p
      print(len(found))
      """
    for (text, count) in zip(try Self.texts(GitHubFormat.self), [4, 3]) {
      let outcome = try Self.python(program, text)
      #expect(outcome.output == "\(count * Self.hostile.count)\n", "\(outcome.errors)")
    }
    let format = GitHubFormat(
      Style(colors: false, isUnicode: true, columns: nil), isVerbose: false)
    let summary = try #require(format.summary(Findings(Self.verification)))
    let rows = summary.split(separator: "\n").filter { $0.hasPrefix("| ") }
    #expect(rows.count == 1 + 4 * Self.hostile.count)
    #expect(rows.allSatisfy { $0.filter { $0 == "|" }.count == 7 })
    #expect(!summary.contains("<") && !summary.contains("`") && !summary.contains("]("))
  }

  /// The members that GitLab's documents ask for in a code quality report.
  @Test func `GitLab accepts the report`() throws {
    for (text, count) in zip(try Self.texts(GitLabFormat.self), [3, 2]) {
      let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
      let issues = try #require(json as? [[String: Any]])
      #expect(issues.count == (count + (count == 3 ? 0 : 0)) * Self.hostile.count)
      #expect(Set(issues.compactMap { $0["fingerprint"] as? String }).count > 1)
      for issue in issues {
        #expect((issue["description"] as? String)?.isEmpty == false)
        #expect((issue["check_name"] as? String)?.isEmpty == false)
        #expect(["major", "minor"].contains(issue["severity"] as? String))
        let place = issue["location"] as? [String: Any]
        #expect((place?["path"] as? String)?.hasPrefix("/") == false)
        #expect((place?["lines"] as? [String: Any])?["begin"] is Int)
      }
    }
  }

  @Test func `Nagios accepts the line and the performance data`()
    throws
  {
    for text in try Self.texts(NagiosFormat.self) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let first = try #require(lines.first)
      #expect(
        first.wholeMatch(
          of: /PERMCHECK CRITICAL - [^|]* \| (?:[a-z]+=[0-9]+;;;0 ?)+/) != nil, "\(first)")
      #expect(lines.dropFirst().allSatisfy { !$0.unicodeScalars.contains("|") })
    }
  }

  @Test func `Prometheus accepts the metrics`() throws {
    let program = """
      import sys
      from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
      families = list(read(open(sys.argv[1], newline='').read()))
      assert {f.type for f in families} == {'gauge'}
      by = {}
      for s in families[0].samples:
          key = (s.labels['what'], s.labels['need'], s.labels['who'])
          by[key] = by.get(key, 0) + s.value
      assert set(by.values()) == {1.0}, by
      assert not any('reason' in s.labels for s in families[0].samples)
      info = [s for f in families if f.name == 'permcheck_reason_info' for s in f.samples]
      assert {(s.labels['what'], s.labels['need'], s.labels['who']) for s in info} <= set(by)
      print(len(families), len(by), [(s.labels['reason'], s.value) for s in info])
      """
    for (text, families) in zip(try Self.texts(OpenMetricsFormat.self), [2, 3]) {
      let outcome = try Self.python(program, text)
      #expect(outcome.output == "\(families) \(Self.hostile.count) []\n", "\(outcome.errors)")
      #expect(text.hasSuffix("\n# EOF\n"))
    }
    let style = Style(colors: false, isUnicode: true, columns: nil)
    let text = try OpenMetricsFormat(style, isVerbose: false).text(
      CheckResult(
        subject: Self.subject,
        reports: [Self.report("x", .denied), Self.report("y", .authorized)], status: .failure))
    let outcome = try Self.python(program, text)
    #expect(outcome.output == "3 2 [('other-bits', 1)]\n", "\(outcome)")
  }

  @Test func `Every plain line has all fields`() throws {
    for (text, count) in zip(try Self.texts(PlainFormat.self), [Self.statuses, 4]) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      #expect(
        lines.allSatisfy {
          $0.split(separator: "\t", omittingEmptySubsequences: false).count == 10
        })
      #expect(lines.count == Self.hostile.count * count)
    }
  }

  @Test func `Nagios has exit statuses of its own`() throws {
    let cases: [([AuthorizationStatus], Int32)] = [
      ([.authorized], 0), ([.authorized, .limited], 1), ([.limited, .denied], 2),
      ([.restricted, .notDetermined], 2), ([.limited, .notDetermined], 3), ([.unavailable], 3),
    ]
    for (statuses, code) in cases {
      let result = CheckResult(
        subject: Self.subject, reports: statuses.map { Self.report("x", $0) }, status: .failure)
      #expect(NagiosFormat.exit(result).rawValue == code, "\(statuses)")
    }
  }

  /// The first way is the fix; every further one is an alternative.
  @Test func `Ways that exclude each other are joined by or`() {
    func remedy(_ form: Remedy.Form, _ command: [PathBytes]) -> Remedy {
      Remedy(
        form, command: command, needsRoot: true, persistence: .permanent, othersAffected: [],
        outcome: .granted)
    }
    var report = Self.report("way", .denied)
    report.resources[0].remedies = [
      remedy(.newGroup, ["newgrp", "video"]), remedy(.allowOther, ["editor", "/etc/fuse.conf"]),
      remedy(.entry, ["setfacl", "-m", "u:1:r", "/way"]),
    ]
    let format = HumanFormat(Style(colors: false, isUnicode: true, columns: nil), isVerbose: false)
    let starts = format.text([report]).split(separator: "\n").compactMap { line -> String? in
      let words = line.split(separator: "(", maxSplits: 1)
      return words.count == 2 ? words[0].trimmingCharacters(in: .whitespaces) : nil
    }
    #expect(starts.suffix(3) == ["fix", "or", "or, a suggestion"], "\(format.text([report]))")
  }

  @Test func `In a narrow terminal user and status have a line of their own`() {
    let style = Style(colors: false, isUnicode: true, columns: 24)
    let lines = HumanFormat(style, isVerbose: false).text(Self.verification)
      .split(separator: "\n").map(String.init)
    #expect(lines.prefix(2) == ["✔ plain 0", "    plain  authorized"])
  }
}
