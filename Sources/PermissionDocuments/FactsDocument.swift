internal import JSONSyntax
package import PermissionKit

/// The facts of an explanation, which `permcheck evaluate` judges again, perhaps on another machine.
package struct FactsDocument: Sendable {
  /// The version of documents that are written; it increases only if a meaning changes.
  package static let version = 1

  /// The subject to judge for.
  package var subject: Subject
  /// All facts that were read.
  package var facts: AccessFacts
  /// The resources that were asked for.
  package var targets: [Inspection.Target]
  /// The names of the users and groups in the facts.
  package var names: IDNames

  /// Creates the document of an explanation.
  package init(_ explanation: Explanation) {
    subject = explanation.inspection.subject
    facts = explanation.inspection.facts
    names = explanation.inspection.names
    targets = zip(explanation.inspection.targets, explanation.reports).map { target, report in
      // `--need` may replace the permissions that the accessor needs.
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
  /// Unknown members are ignored. Members that version 1 did not write at first have defaults.
  ///
  /// - Parameter bytes: The whole document.
  /// - Throws: A `DocumentError` that names the fault and its place.
  package init(_ bytes: [UInt8]) throws(DocumentError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONReader().value(from: bytes)
    } catch {
      throw DocumentError(message: "is not valid JSON (\(error.description))")
    }
    guard json.object != nil else {
      throw DocumentError(message: "is not a document of permcheck explain --json (no object)")
    }
    guard json["schemaVersion"]?.integer() == Self.version else {
      let version = json["schemaVersion"].map { "schemaVersion \(JSONWriter().text($0))" }
      throw DocumentError(
        message: "has \(version ?? "no schemaVersion") instead of schemaVersion \(Self.version)")
    }
    do {
      self = try Self.codec.decode(json)
    } catch let error as JSONMismatch {
      throw DocumentError(
        message: "is not a document of permcheck explain --json (\(error.description))")
    } catch {
      throw DocumentError(message: "is not a document of permcheck explain --json")
    }
    let asked = targets.flatMap(\.set.resources)
    // Without a resource nothing is read, so there is nothing to judge.
    guard asked.isEmpty || facts.isConsistent, asked.allSatisfy({ !$0.need.isEmpty }) else {
      throw DocumentError(message: "contradicts itself")
    }
  }

  private init() {
    subject = .blank
    facts = AccessFacts(inodes: [], mounts: [])
    targets = []
    names = IDNames()
  }

  /// The document as one line, with a newline.
  package var text: String {
    let version = JSONField<FactsDocument>.always("schemaVersion", ["const": 1]) { _ in
      JSONValue(Self.version)
    }
    let fields = [version, Self.credentials, Self.facts, Self.targets, Self.names]
    return Documents.text(JSONRecord<FactsDocument>(fields).json(self))
  }

  // The members, which the document of an explanation contains beside its reports.
  static let credentials = JSONField<FactsDocument>.required("credentials", \.subject, .subject)
  static let facts = JSONField<FactsDocument>.required("facts", \.facts, .facts)
  static let targets = JSONField<FactsDocument>.required(
    "targets", \.targets, JSONCodec<Inspection.Target>.target.list)
  static let names = JSONField<FactsDocument>.defaulted("names", \.names, .names)

  private static let codec = JSONRecord<FactsDocument>([credentials, facts, targets, names])
    .codec(FactsDocument())
}

/// The error for a document that cannot be used.
package struct DocumentError: Error, Hashable, Sendable {
  /// The fault of the document: a predicate that follows its name.
  package let message: String
}

extension Subject {
  fileprivate static let blank = Subject(
    source: .ids, credentials: Credentials(uid: .max, gid: .max, groups: []))
}

extension JSONCodec<Subject> {
  /// The complete subject, but without home and process, which mean nothing on another machine.
  fileprivate static let subject = JSONRecord<Subject>([
    .required("source", \.source, .name), .optional("user", \.name, .string),
    .required("credentials", \.credentials, .credentials),
  ]).codec(.blank)
}

extension JSONCodec<IDNames> {
  /// Objects from ids, in decimal, to names.
  fileprivate static let names = JSONRecord<IDNames>([
    .required("users", \.users, .byID), .required("groups", \.groups, .byID),
  ]).codec(IDNames())
}

extension JSONCodec<[UInt32: String]> {
  fileprivate static let byID = JSONCodec(
    JSONCodec<String>.string.dictionary, expected: "names by id",
    to: { names in Dictionary(uniqueKeysWithValues: names.map { (String($0), $1) }) },
    from: { texts in
      var names: [UInt32: String] = [:]
      for (text, name) in texts {
        guard let id = UInt32(text), String(id) == text else { return nil }
        names[id] = name
      }
      return names
    })
}

extension JSONCodec<Inspection.Target> {
  fileprivate static let target = JSONRecord<Inspection.Target>([
    .required("name", \.name, .string),
    .required("resources", \.set.resources, resource.list),
  ]).codec(Inspection.Target(name: "", set: ResourceSet()))

  private static let resource = JSONRecord<Resource>([
    .required("path", \.path, .path), .required("label", \.label, .string),
    .required("device", \.device, .string), .required("need", \.need, .permissions),
    .optional("lesserNeed", \.lesserNeed, .permissions), .optional("kind", \.kind, .name),
  ]).codec(Resource(path: "", label: "", device: "", need: [], kind: nil))
}
