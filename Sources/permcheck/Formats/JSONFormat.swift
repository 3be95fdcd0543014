import FoundationEssentials
import PermissionKit

/// Documents for programs, described by `permcheck schema`.
enum JSONFormat {
  static func text(_ document: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
  }

  static func text(
    _ reports: [AccessReport], subject: Subject, status: ExitStatus
  ) throws -> String {
    try text(
      CheckDocument(
        subject: .init(subject), reports: reports.map(CheckDocument.Report.init),
        exitStatus: status.rawValue))
  }

  static func text(
    _ outcome: RequestAccess.Outcome, subject: Subject, status: ExitStatus
  ) throws -> String {
    var document = CheckDocument(
      subject: .init(subject), reports: outcome.reports.map(CheckDocument.Report.init),
      exitStatus: status.rawValue)
    document.plans = outcome.plans.map(CheckDocument.Plan.init)
    document.applied = outcome.isApplied
    return try text(document)
  }

  static func text(_ explanation: Explainer.Explanation, status: ExitStatus) throws -> String {
    let basis = FactsDocument(explanation)
    return try text(
      CheckDocument(
        subject: .init(explanation.subject),
        reports: explanation.reports.map(CheckDocument.Report.init), exitStatus: status.rawValue,
        credentials: basis.credentials, facts: basis.facts, targets: basis.targets))
  }
}

/// What `permcheck list --json` and `permcheck log --json` print.
struct Listing<Item: Encodable>: Encodable {
  var schemaVersion = 1
  let accessors: [Item]
  /// Lines of the log that are no events.
  var unreadable: Int?
}

/// What `permcheck check --json` prints.
struct CheckDocument: Encodable {
  struct Tool: Encodable {
    let name = permcheck.Tool.name
    let version = permcheck.Tool.version
  }

  struct Subject: Encodable {
    let source: String
    let user: String?
    let uid: UInt32
    let gid: UInt32
    let groups: [UInt32]
    let capabilities: [String]

    init(_ subject: PermissionKit.Subject) {
      source = subject.source.rawValue
      user = subject.name
      uid = subject.credentials.user.fileSystem
      gid = subject.credentials.group.fileSystem
      groups = subject.credentials.groups.sorted()
      capabilities = subject.credentials.effective.names
    }
  }

  struct Decision: Encodable {
    let verdict: String
    let errno: String?
    let rule: String
    let component: String?
    let meaning: String?

    init(_ decision: ResourceDecision) {
      verdict = decision.verdict.name
      errno = decision.errnoName
      rule = decision.rule.description
      component = decision.component?.description
      meaning = decision.meaning
    }
  }

  struct Probe: Encodable {
    let method: String
    let errno: String?
  }

  struct Reason: Encodable {
    let code: String
    let certainty: String
    let message: String
    let evidence: [String]
  }

  struct Remedy: Encodable {
    let kind: String
    let command: [String]
    let needsRoot: Bool
    let persistence: String
    let othersAffected: [String]
    let outcome: String
    let line: String?
    let note: String?
  }

  struct Component: Encodable {
    let component: String
    let kind: String?
    let mode: String?
    let uid: UInt32?
    let gid: UInt32?
    let acl: [String]?
    let target: String?
    let need: String?
    let verdict: String
    let rule: String?
    let decides: Bool

    init(_ walked: WalkedComponent) {
      component = walked.name.description
      kind = walked.facts?.kind.rawValue
      mode = walked.facts.map { facts in
        let digits = String(facts.mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }
      uid = walked.facts?.uid
      gid = walked.facts?.gid
      acl = walked.facts?.acl?.entries.map(\.description)
      target = walked.target?.description
      need = walked.need?.letters
      verdict =
        walked.verdict?.name ?? (walked.isReached ? "granted" : "not-reached")
      rule = walked.rule?.description
      decides = walked.decides
    }
  }

  struct Resource: Encodable {
    let path: String
    let label: String
    let device: String
    let need: String
    let status: String
    let decision: Decision?
    let probe: Probe?
    let reasons: [Reason]
    let remedies: [Remedy]
    let walk: [Component]?

    init(_ resource: ResourceReport) {
      walk = resource.walk.isEmpty ? nil : resource.walk.map(Component.init)
      path = resource.path.description
      label = resource.label
      device = resource.device
      need = resource.need.letters
      status = resource.status.rawValue
      decision = resource.decision.map(Decision.init)
      probe = resource.probe.map {
        Probe(method: $0.method.rawValue, errno: $0.errno?.description)
      }
      reasons = resource.reasons.map {
        Reason(
          code: $0.code.rawValue, certainty: $0.certainty.rawValue, message: $0.message,
          evidence: $0.evidence)
      }
      remedies = resource.remedies.map {
        Remedy(
          kind: $0.kind.rawValue, command: $0.command.map(\.description), needsRoot: $0.needsRoot,
          persistence: $0.persistence.rawValue, othersAffected: $0.othersAffected,
          outcome: $0.outcome.rawValue, line: $0.line, note: $0.note)
      }
    }
  }

  struct Report: Encodable {
    let accessor: String
    let status: String
    let requestable: Bool
    let resources: [Resource]

    init(_ report: AccessReport) {
      accessor = report.accessor
      status = report.status.rawValue
      requestable = report.isRequestable
      resources = report.resources.map(Resource.init)
    }
  }

  struct Plan: Encodable {
    struct Step: Encodable {
      let place: String
      let change: String
      let command: [String]
      let needsRoot: Bool
      let persistence: String
    }

    let accessor: String
    let strategy: String
    let steps: [Step]
    let outcome: String
    let needsNewLogin: Bool
    let needsRoot: Bool
    let persistence: String
    let othersAffected: [String]
    let warnings: [String]

    init(_ plan: GrantPlan) {
      accessor = plan.accessor
      strategy = plan.strategy
      steps = plan.steps.map {
        Step(
          place: $0.place, change: $0.change.command.summary,
          command: $0.change.command.arguments.map(\.description), needsRoot: $0.needsRoot,
          persistence: $0.change.command.persistence.rawValue)
      }
      outcome = plan.outcome.rawValue
      needsNewLogin = plan.needsNewLogin
      needsRoot = plan.needsRoot
      persistence = plan.persistence.rawValue
      othersAffected = plan.othersAffected
      warnings = plan.warnings
    }
  }

  let schemaVersion = 1
  let tool = Tool()
  let subject: Subject
  let reports: [Report]
  let exitStatus: Int32
  /// Of a request: what is to be changed, and whether it was.
  var plans: [Plan]?
  var applied: Bool?
  /// Of an explanation: what it was made on, see `FactsDocument`.
  var credentials: FactsDocument.Who?
  var facts: AccessFacts?
  var targets: [FactsDocument.Asked]?
}
