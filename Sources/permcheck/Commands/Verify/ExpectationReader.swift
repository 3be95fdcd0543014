import ArgumentParser
import JSONSyntax
import PermissionKit
import PermissionKitPlugins

/// Reads a file of expectations, and finds all of its mistakes at once.
struct ExpectationReader {
  private(set) var expectations: [Expectation] = []
  private(set) var mistakes: [Mistake] = []

  private static let keys = [
    "name", "path", "accessor", "user", "uid", "gid", "groups", "pid", "need", "is", "reason",
    "wait", "recursive", "future", "creator", "umask", "to", "target",
  ]

  private let accessors: Accessors

  /// Reads a document.
  init(_ bytes: [UInt8], _ accessors: Accessors) {
    self.accessors = accessors
    let document: TOMLValue
    do throws(TOMLValue.SyntaxError) {
      document = try TOMLValue.document(bytes)
    } catch {
      mistakes = [Mistake(place: error.place, message: error.message)]
      return
    }
    guard case .table(let members) = document.content else { return }
    for member in members {
      guard member.key == "expect" else {
        wrong(
          member.place, Self.unknown(member.key, ["expect"], "[[expect]] begins an expectation"))
        continue
      }
      guard case .array(let entries) = member.value.content else {
        wrong(member.place, "write [[expect]], with two brackets: there can be several")
        continue
      }
      for entry in entries { read(entry) }
    }
    if mistakes.isEmpty, expectations.isEmpty {
      wrong(document.place, "there is no expectation: each begins with [[expect]]")
    }
    expectations.sort { $0.place < $1.place }
    nameAll()
    mistakes.sort()
  }

  private mutating func wrong(_ place: TOMLValue.Place, _ message: String) {
    mistakes.append(Mistake(place: place, message: message))
  }

  private static func unknown(_ word: String, _ known: [String], _ help: String) -> String {
    let start = "there is no key \"\(Sanitizer.clean(word))\""
    let near = Suggestions.nearest(to: word, among: known)
    return near.map { "\(start); did you mean \($0)?" } ?? "\(start); \(help)"
  }

  /// Names the expectations without a name, and finds names that occur twice.
  private mutating func nameAll() {
    var places: [ExactString: TOMLValue.Place] = [:]
    for expectation in expectations where !expectation.name.isEmpty {
      let name = ExactString(expectation.name)
      if let first = places[name] {
        wrong(
          expectation.place,
          "the name \"\(Sanitizer.clean(expectation.name))\" is already used in line \(first.line)")
      }
      places[name] = places[name] ?? expectation.place
    }
    // Where many expect the same, each is the next in number.
    var counts: [ExactString: Int] = [:]
    for index in expectations.indices where expectations[index].name.isEmpty {
      let base = "\(Sanitizer.clean(expectations[index].what)) is \(expectations[index].wanted)"
      var count = counts[ExactString(base), default: 0] + 1
      func name() -> ExactString { ExactString(count == 1 ? base : "\(base) (\(count))") }
      while places[name()] != nil { count += 1 }
      let name = name()
      counts[ExactString(base)] = count
      places[name] = expectations[index].place
      expectations[index].name = name.string
    }
  }

  // MARK: - One expectation

  private mutating func read(_ entry: TOMLValue) {
    guard case .table(let members) = entry.content else {
      return wrong(entry.place, "an expectation is a table: write [[expect]] and its keys below")
    }
    var values: [String: TOMLValue] = [:]
    for member in members {
      if Self.keys.contains(member.key) {
        values[member.key] = member.value
      } else {
        wrong(
          member.place,
          Self.unknown(
            member.key, Self.keys, "known: \(Self.keys.joined(separator: ", "))"))
      }
    }
    var expectation = Expectation(place: entry.place, target: .path("/"))
    if let target = target(values, entry.place) { expectation.target = target }
    if let value = values["name"], let name = text(value, "name") {
      if name.isEmpty { wrong(value.place, "the name is empty") }
      expectation.name = name
    }
    expectation.subjects = subjects(values, entry.place)
    expectation.words = words(values["is"], entry.place)
    expectation.need = values["need"].flatMap { self.need($0) }
    expectation.isRecursive = recursive(values, of: expectation)
    expectation.reason = values["reason"].flatMap { self.reason($0) }
    if let value = values["reason"] { checkReason(of: expectation, value.place) }
    expectation.wait = values["wait"].flatMap { self.wait($0) }
    expectation.future = future(values, of: expectation)
    expectation.operation = operation(values, of: expectation)
    expectations.append(expectation)
  }

  private mutating func text(_ value: TOMLValue, _ key: String) -> String? {
    if case .string(let text) = value.content { return text }
    wrong(value.place, "\(key) must be a string, such as \(key) = \"…\"")
    return nil
  }

  private mutating func target(
    _ values: [String: TOMLValue], _ place: TOMLValue.Place
  ) -> Expectation.Target? {
    switch (values["path"], values["accessor"]) {
    case (let value?, nil):
      guard let text = text(value, "path") else { return nil }
      guard let path = PathBytes(argument: text), path.isAbsolute else {
        wrong(value.place, "the path must start with /")
        return nil
      }
      return .path(path)
    case (nil, let value?):
      guard let text = text(value, "accessor"), let argument = PathBytes(argument: text) else {
        return nil
      }
      do {
        let accessor = try AccessorArgument(argument, accessors)
        // The file may be read in any folder.
        if let path = accessor.path,
          !path.bytes.elementsEqual(argument.bytes.suffix(path.bytes.count))
        {
          wrong(value.place, "the path must start with /")
          return nil
        }
        if accessor.isPath {
          wrong(value.place, "this is a path; write path = \"/…\"")
          return nil
        }
        return .accessor(accessor)
      } catch {
        wrong(value.place, Permcheck.message(for: error))
        return nil
      }
    case (_?, let value?): wrong(value.place, "an expectation has a path or an accessor, not both")
    case (nil, nil):
      wrong(place, "missing path or accessor; write path = \"/…\" or accessor = \"camera\"")
    }
    return nil
  }

  // MARK: - Subjects

  private mutating func subjects(
    _ values: [String: TOMLValue], _ place: TOMLValue.Place
  ) -> [(who: Who, place: TOMLValue.Place)] {
    let given = ["user", "uid", "pid"].compactMap { values[$0] }
    if given.count > 1 {
      wrong(given[1].place, "user, uid and pid cannot be combined")
      return []
    }
    for key in ["gid", "groups"] {
      if let value = values[key], values["uid"] == nil { wrong(value.place, "\(key) needs uid") }
    }
    if let value = values["user"] { return users(value).map { (.user($0.name), $0.place) } }
    if let value = values["pid"] {
      guard let pid = number(value, "pid", from: 1, upTo: UInt32(Int32.max)) else { return [] }
      return [(.process(Int32(pid)), value.place)]
    }
    guard let value = values["uid"] else { return [(.current, place)] }
    guard let gid = values["gid"] else {
      wrong(value.place, "uid needs gid")
      return []
    }
    var groups: [UInt32] = []
    if let list = values["groups"] {
      guard case .array(let elements) = list.content else {
        wrong(list.place, "groups is a list of numbers: [27, 44]")
        return []
      }
      groups = elements.compactMap { number($0, "a group", upTo: .max - 1) }
    }
    guard let uid = number(value, "uid", upTo: .max - 1),
      let gid = number(gid, "gid", upTo: .max - 1)
    else { return [] }
    return [(.ids(uid: uid, gid: gid, groups: groups), value.place)]
  }

  private mutating func users(
    _ value: TOMLValue
  ) -> [(name: String, place: TOMLValue.Place)] {
    guard case .array(let elements) = value.content else {
      return text(value, "user").map { [($0, value.place)] } ?? []
    }
    if elements.isEmpty { wrong(value.place, "the list of users is empty") }
    var names: [(name: String, place: TOMLValue.Place)] = []
    var seen: Set<ExactString> = []
    for element in elements {
      guard let name = text(element, "each user") else { continue }
      if !seen.insert(ExactString(name)).inserted {
        wrong(element.place, "the user \(Sanitizer.clean(name)) is in the list twice")
      }
      names.append((name, element.place))
    }
    return names
  }

  private mutating func number(
    _ value: TOMLValue, _ key: String, from least: UInt32 = 0, upTo most: UInt32
  ) -> UInt32? {
    if case .integer(let number) = value.content, let number = UInt32(exactly: number),
      number >= least, number <= most
    {
      return number
    }
    wrong(value.place, "\(key) is a whole number from \(least) to \(most)")
    return nil
  }

  // MARK: - What is expected

  private mutating func words(_ value: TOMLValue?, _ place: TOMLValue.Place) -> [String] {
    guard let value else {
      wrong(place, "missing key is: write is = \"granted\" or is = \"refused\"")
      return []
    }
    var values = [value]
    if case .array(let list) = value.content { values = list }
    if values.isEmpty {
      wrong(value.place, "the list is empty, so no answer could match it")
    }
    var words: [String] = []
    for value in values {
      guard let word = text(value, "is") else { continue }
      if Expectation.statuses[word] == nil { wrong(value.place, Self.unknownStatus(word)) }
      words.append(word)
    }
    return words
  }

  private static func unknownStatus(_ word: String) -> String {
    if word == AuthorizationStatus.notDetermined.rawValue {
      return "notDetermined cannot be expected; write what is right"
    }
    let known = [
      "granted", "refused", "authorized", "limited", "denied", "restricted", "unavailable",
    ]
    let start = "there is no status \"\(Sanitizer.clean(word))\""
    let near = Suggestions.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ";"
    return "\(start)\(near) known: \(known.joined(separator: ", "))"
  }

  private mutating func need(_ value: TOMLValue) -> Permissions? {
    guard let text = text(value, "need") else { return nil }
    guard let need = Permissions(text), !need.isEmpty else {
      wrong(value.place, "need is a combination of r, w and x")
      return nil
    }
    return need
  }

  private mutating func reason(_ value: TOMLValue) -> Reason.Code? {
    guard let text = text(value, "reason") else { return nil }
    if let code = Reason.Code(rawValue: text) { return code }
    let known = Reason.Code.allCases.map(\.rawValue)
    let start = "there is no reason \"\(Sanitizer.clean(text))\""
    let near = Suggestions.nearest(to: text, among: known).map { "did you mean \($0)?" }
    wrong(value.place, "\(start); \(near ?? "known: \(known.joined(separator: ", "))")")
    return nil
  }

  /// Adds a mistake if the reason cannot occur with the expected answer.
  private mutating func checkReason(of expectation: Expectation, _ place: TOMLValue.Place) {
    guard let code = expectation.reason, !expectation.statuses.isEmpty else { return }
    var possible = code.statuses
    // Only a folder of an accessor can be limited by itself, if no need is named.
    var isFolder = false
    if case .accessor(let argument) = expectation.target { isFolder = argument.entry.family == nil }
    if !expectation.isRecursive {
      if !isFolder || expectation.need != nil { possible.remove(.limited) }
      if code == .folderContents {
        return wrong(place, "the reason folder-contents requires recursive = true")
      }
    }
    guard possible.isDisjoint(with: expectation.statuses) else { return }
    let known = AuthorizationStatus.allCases.filter(possible.contains)
      .filter { $0 != .notDetermined }.map { "\"\($0.rawValue)\"" }
    let only =
      known.isEmpty
      ? "its status is always notDetermined" : "its status is \(known.joined(separator: " or "))"
    wrong(
      place,
      "no \(expectation.words.joined(separator: " or ")) access has the reason \(code.rawValue): \(only)"
    )
  }

  private mutating func recursive(
    _ values: [String: TOMLValue], of expectation: Expectation
  ) -> Bool {
    guard let value = values["recursive"] else { return false }
    guard case .boolean(true) = value.content else {
      wrong(value.place, "write recursive = true, or leave it out")
      return false
    }
    if case .accessor(let argument) = expectation.target, argument.entry.family != nil {
      wrong(value.place, "recursive works only for a folder, and this is a device")
    }
    for key in ["future", "wait"] {
      if let other = values[key] {
        wrong(other.place, "\(key) and recursive cannot be combined")
      }
    }
    return true
  }

  private mutating func future(
    _ values: [String: TOMLValue], of expectation: Expectation
  ) -> FutureChoice? {
    guard let value = values["future"] else {
      for key in ["creator", "umask"] {
        if let value = values[key] { wrong(value.place, "\(key) needs future = true") }
      }
      return nil
    }
    guard case .boolean(true) = value.content else {
      wrong(value.place, "write future = true, or leave it out")
      return nil
    }
    if case .accessor(let argument) = expectation.target, argument.entry.family != nil {
      wrong(value.place, "future works only for a folder, and this is a device")
    }
    var future = FutureChoice()
    future.creator = values["creator"].flatMap { text($0, "creator") }
    if let value = values["umask"], let text = text(value, "umask") {
      future.umask = Explain.bits(text)
      if future.umask == nil {
        wrong(value.place, "umask must be a string of octal digits, such as \"027\"")
      }
    }
    return future
  }

  private mutating func operation(
    _ values: [String: TOMLValue], of expectation: Expectation
  ) -> (name: NamedOperation.Name, target: PathBytes?)? {
    guard let value = values["to"] else {
      if let value = values["target"] { wrong(value.place, "target needs to = \"rename\"") }
      return nil
    }
    guard let text = text(value, "to") else { return nil }
    guard let name = NamedOperation.Name(rawValue: text) else {
      let known = OperationArgument.names
      let near = Suggestions.nearest(to: text, among: known).map { "did you mean \($0)?" }
      wrong(
        value.place,
        "there is no operation \"\(Sanitizer.clean(text))\"; \(near ?? "known: \(known.joined(separator: ", "))")"
      )
      return nil
    }
    if case .accessor = expectation.target { wrong(value.place, "to needs path = \"/…\"") }
    for key in ["need", "recursive", "future"] {
      if let other = values[key] { wrong(other.place, "\(key) and to cannot be combined") }
    }
    guard let target = values["target"] else {
      guard name.needsPath else { return (name, nil) }
      wrong(value.place, "\(text) needs target, the new path")
      return nil
    }
    guard let words = self.text(target, "target"), let bytes = PathBytes(argument: words) else {
      return nil
    }
    if name.needsPath, !bytes.isAbsolute { wrong(target.place, "the path must start with /") }
    if !name.needsPath, name != .chown {
      wrong(target.place, "\(text) takes no target")
      return nil
    }
    return (name, bytes)
  }

  private mutating func wait(_ value: TOMLValue) -> TimeSpan? {
    guard let text = text(value, "wait") else { return nil }
    if let time = TimeSpan(argument: text) { return time }
    wrong(value.place, "wait is a time such as \"5s\", \"1h30m\" or \"2d\", at most 366d")
    return nil
  }
}
