import PermissionKit

/// The part of an explanation's document that it was made on, and that `evaluate` judges again.
struct FactsDocument: Codable {
  struct Who: Codable {
    var source: Subject.Source
    var user: String?
    var credentials: Credentials

    init(_ subject: Subject) {
      source = subject.source
      user = subject.name
      credentials = subject.credentials
    }

    var subject: Subject { Subject(source: source, credentials: credentials, name: user) }
  }

  struct Question: Codable {
    var path: PathBytes
    var label: String
    var device: String
    var need: Permissions
    var lesserNeed: Permissions?
    var kind: FileKind?
  }

  struct Asked: Codable {
    var name: String
    var resources: [Question]

    init(_ target: Explainer.Target, need: [Permissions]) {
      name = target.name
      resources = zip(target.set.resources, need).map { resource, need in
        Question(
          path: resource.path, label: resource.label, device: resource.device, need: need,
          lesserNeed: need == resource.need ? resource.lesserNeed : nil, kind: resource.kind)
      }
    }

    var target: Explainer.Target {
      Explainer.Target(
        name: name,
        set: ResourceSet(
          resources: resources.map {
            Resource(
              path: $0.path, label: $0.label, device: $0.device, need: $0.need,
              lesserNeed: $0.lesserNeed, kind: $0.kind)
          }))
    }
  }

  var schemaVersion = 1
  var credentials: Who
  var facts: AccessFacts
  var targets: [Asked]

  init(_ explanation: Explainer.Explanation) {
    credentials = Who(explanation.subject)
    facts = explanation.facts
    targets = zip(explanation.targets, explanation.reports).map { target, report in
      Asked(target, need: report.resources.prefix(target.set.resources.count).map(\.need))
    }
  }
}
