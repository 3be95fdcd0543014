internal import PermissionKit

/// Reads a document of TOML that declares an accessor, and finds all of its mistakes at once.
package struct DeclarationReader: Sendable {
  /// A mistake, with its place.
  package struct Mistake: Hashable, Sendable {
    /// Where the mistake is.
    package let place: TOMLValue.Place
    /// The mistake, for people; the key first.
    package let message: String
  }

  /// The declaration; nil if there is a mistake.
  package private(set) var declaration: AccessorDeclaration?
  /// The mistakes in the order of their places; empty if there is none.
  package private(set) var mistakes: [Mistake] = []
  /// The values by their keys.
  private var values: [String: TOMLValue] = [:]
  /// The place of the whole document.
  private let start = TOMLValue.Place(line: 1, column: 1)

  /// The keys for the place of an accessor, of which a document has one.
  private static let places = ["nodes", "class", "directory", "xdg", "socket"]
  /// Every key.
  package static let keys =
    ["name", "aliases", "summary"] + places + [
      "need", "subsystem", "numbers", "property", "probe", "companions", "uses", "hint", "risk",
      "grant",
    ]

  /// Reads a document.
  ///
  /// - Parameter bytes: The document.
  package init(_ bytes: [UInt8]) {
    do throws(TOMLValue.SyntaxError) {
      for member in try TOMLReader.members(bytes) {
        if Self.keys.contains(member.key) {
          values[member.key] = member.value
        } else {
          let known = Self.keys.joined(separator: ", ")
          wrong(
            member.place, "there is no key \"\(Sanitizer.clean(member.key))\"; known: \(known)")
        }
      }
    } catch {
      mistakes = [Mistake(place: error.place, message: error.message)]
      return
    }
    let declaration = read()
    if let declaration {
      for mistake in declaration.mistakes { wrong(place(of: mistake), mistake) }
    }
    mistakes.sort { $0.place < $1.place }
    if mistakes.isEmpty { self.declaration = declaration }
  }

  /// Returns the place of a value in the document.
  package func place(of mistake: AccessorDeclaration.Mistake) -> TOMLValue.Place {
    guard let value = values[mistake.key] else { return start }
    if let index = mistake.index, case .array(let elements) = value.content,
      elements.indices.contains(index)
    {
      return elements[index].place
    }
    return value.place
  }

  private mutating func wrong(_ place: TOMLValue.Place, _ message: String) {
    mistakes.append(Mistake(place: place, message: message))
  }

  private mutating func wrong(
    _ place: TOMLValue.Place, _ mistake: AccessorDeclaration.Mistake
  ) {
    wrong(place, "\(mistake.key): \(mistake.message)")
  }

  // MARK: - Values

  private mutating func read() -> AccessorDeclaration? {
    let (name, summary, place) = (needed("name"), needed("summary"), place())
    guard let name, let summary, let place else { return nil }
    var declaration = AccessorDeclaration(name, summary: summary, place)
    declaration.aliases = list("aliases") ?? []
    declaration.numbers = list("numbers") ?? []
    declaration.companions = list("companions") ?? []
    declaration.subsystem = text("subsystem")
    declaration.property = text("property")
    declaration.uses = text("uses")
    declaration.hint = text("hint")
    declaration.risk = text("risk")
    if let word = text("need") {
      declaration.need = Permissions(word) ?? []
    }
    if let probe: AccessorDeclaration.Probe = word("probe") { declaration.probe = probe }
    if let grant: AccessorDeclaration.Grant = word("grant") { declaration.grant = grant }
    return declaration
  }

  /// Reads the place of the accessor: its devices, folder or socket.
  private mutating func place() -> AccessorDeclaration.Place? {
    let given = Self.places.filter { values[$0] != nil }
    guard let key = given.first else {
      wrong(start, "one of these keys is missing: \(Self.places.joined(separator: ", "))")
      return nil
    }
    for other in given.dropFirst() {
      wrong(values[other]?.place ?? start, "\(other): there is \(key) already")
    }
    if key == "nodes" { return list(key).map { .nodes($0) } }
    guard let value = text(key) else { return nil }
    switch key {
    case "class": return .deviceClass(value)
    case "directory": return .directory(value)
    case "xdg": return .userFolder(value)
    default: return .socket(value)
    }
  }

  private mutating func needed(_ key: String) -> String? {
    if values[key] == nil { wrong(start, "the key \(key) is missing") }
    return text(key)
  }

  private mutating func text(_ key: String) -> String? {
    guard let value = values[key] else { return nil }
    if case .string(let text) = value.content { return text }
    wrong(value.place, "\(key) must be a string in quotes")
    return nil
  }

  private mutating func list(_ key: String) -> [String]? {
    guard let value = values[key] else { return nil }
    guard case .array(let elements) = value.content else {
      wrong(value.place, "\(key) must be a list of strings: [\"…\"]")
      return nil
    }
    if elements.count > 64 { wrong(value.place, "\(key) has more than 64 strings") }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element.content else {
        wrong(element.place, "\(key) must be a string in quotes")
        return nil
      }
      texts.append(text)
    }
    return texts
  }

  private mutating func word<Word: RawRepresentable & CaseIterable>(
    _ key: String
  ) -> Word? where Word.RawValue == String {
    guard let text = text(key), let value = values[key] else { return nil }
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
    wrong(value.place, "\(key): there is no \"\(Sanitizer.clean(text))\"; known: \(known)")
    return nil
  }
}
