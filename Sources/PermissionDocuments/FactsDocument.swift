internal import JSONSyntax
package import PermissionKit

/// The part of an explanation's document that it was made on, and that `permcheck evaluate` judges
/// again, perhaps on another machine.
package struct FactsDocument: Sendable {
  /// The version that is written; only a change of meaning raises it.
  package static let version = 1

  /// On whose behalf.
  package var subject: Subject
  /// All that was read.
  package var facts: AccessFacts
  /// What was asked.
  package var targets: [Inspection.Target]

  /// Takes what an explanation was made on.
  package init(_ explanation: Explainer.Explanation) {
    subject = explanation.inspection.subject
    facts = explanation.inspection.facts
    targets = zip(explanation.inspection.targets, explanation.reports).map { target, report in
      // What was asked for, where that was not what the accessor needs.
      var target = target
      target.set.absences = []
      for index in target.set.resources.indices {
        let need = report.resources[index].need
        if need != target.set.resources[index].need { target.set.resources[index].lesserNeed = nil }
        target.set.resources[index].need = need
      }
      return target
    }
  }

  /// Reads a document of `permcheck explain --json`.
  ///
  /// Members that are not known are passed over; those that an older version did not write have
  /// their defaults.
  ///
  /// - Throws: A `DocumentError` that says what is wrong, and where.
  package init(_ bytes: [UInt8]) throws(DocumentError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONReader().value(from: bytes)
    } catch {
      throw DocumentError(message: "is no JSON (\(error.description))")
    }
    if let version: Int = json["schemaVersion"]?.integer(), version != Self.version {
      throw DocumentError(message: "has schemaVersion \(version), which is not \(Self.version)")
    }
    do {
      self = try Self.codec.decode(json)
    } catch let error as JSONMismatch {
      throw DocumentError(
        message: "is no document of permcheck explain --json (\(error.description))")
    } catch {
      throw DocumentError(message: "is no document of permcheck explain --json")
    }
    let asked = targets.flatMap(\.set.resources)
    guard facts.isConsistent, asked.allSatisfy({ !$0.need.isEmpty }) else {
      throw DocumentError(message: "contradicts itself")
    }
  }

  private init() {
    subject = .blank
    facts = AccessFacts(inodes: [], mounts: [])
    targets = []
  }

  /// The document alone, with a newline.
  package var text: String {
    let version = JSONField<FactsDocument>.always("schemaVersion", ["const": 1]) { _ in
      JSONValue(Self.version)
    }
    return Documents.text(JSONRecord<FactsDocument>([version] + Self.fields).json(self))
  }

  /// The members, which stand in the document of an explanation beside its reports.
  static let fields: [JSONField<FactsDocument>] = [
    .required("credentials", \.subject, .who), .required("facts", \.facts, .facts),
    .required("targets", \.targets, JSONCodec<Inspection.Target>.target.list),
  ]

  private static let codec = JSONRecord<FactsDocument>(fields).codec(FactsDocument())
}

/// A document cannot be used.
package struct DocumentError: Error, Hashable, Sendable {
  /// What is wrong with it, to be put behind its name.
  package let message: String
}

extension Subject {
  fileprivate static let blank = Subject(
    source: .ids, credentials: Credentials(uid: .max, gid: .max, groups: []))
}

extension JSONCodec<Subject> {
  /// The subject in full; home and process mean nothing elsewhere.
  fileprivate static let who = JSONRecord<Subject>([
    .required("source", \.source, .name), .optional("user", \.name, .string),
    .required("credentials", \.credentials, .credentials),
  ]).codec(.blank)
}

extension JSONCodec<Inspection.Target> {
  fileprivate static let target = JSONRecord<Inspection.Target>([
    .required("name", \.name, .string),
    .required("resources", \.set.resources, resource.list),
  ]).codec(Inspection.Target(name: "", set: ResourceSet()))

  private static let resource = JSONRecord<Resource>([
    .required("path", \.path, .path), .defaulted("label", \.label, .string),
    .defaulted("device", \.device, .string), .required("need", \.need, .permissions),
    .optional("lesserNeed", \.lesserNeed, .permissions), .optional("kind", \.kind, .name),
  ]).codec(Resource(path: "", label: "", device: "", need: [], kind: nil))
}
