import PermissionKit

// Audits of many users: a line for those who have the same access.
extension HumanFormat {
  /// The widest column of names.
  private static let widest = 28

  /// Users whose access is the same, by the same rules.
  private struct Row {
    let users: [CensusUser]
    /// The names that fit, and how many more there are.
    var who: String {
      var (text, shown) = ("", 0)
      for user in users {
        let name = Sanitizer.clean(user.subject.displayName)
        let rest = users.count - shown - 1
        let tail = rest > 0 ? " and \(rest) more" : ""
        if shown > 0, text.count + 2 + name.count + tail.count > HumanFormat.widest { break }
        text += (shown > 0 ? ", " : "") + name
        shown += 1
      }
      return users.count > shown ? "\(text) and \(users.count - shown) more" : text
    }
  }

  func text(_ result: CensusResult) -> String {
    let asked = result.need.words
    let roots = result.roots.map { Sanitizer.clean($0.description) }.joined(separator: ", ")
    let users = result.users.count == 1 ? "1 user" : "\(result.users.count.grouped) users"
    var text =
      "who has \(asked) access below \(roots): \(result.counts.asked.grouped) files and folders, \(users)\n"
    let rows = rows(result)
    let names = rows.map(\.who)
    let width = names.map(\.count).max() ?? 0
    let amounts = rows.map { amount($0.users[0], result) }
    let amountWidth = amounts.map(\.count).max() ?? 0
    for (index, row) in rows.enumerated() {
      let user = row.users[0]
      let name = names[index] + String(repeating: " ", count: width - names[index].count)
      let amount =
        String(repeating: " ", count: amountWidth - amounts[index].count) + amounts[index]
      text += "\(mark(user, result)) \(name)  \(amount)  \(rules(user))\n"
    }
    text += possibleRefusals(result)
    return text
  }

  private func rows(_ result: CensusResult) -> [Row] {
    if isVerbose { return result.users.map { Row(users: [$0]) } }
    var groups: [(key: [CensusAnswer: Int], users: [CensusUser])] = []
    var places: [[CensusAnswer: Int]: Int] = [:]
    for user in result.users {
      let key = Dictionary(uniqueKeysWithValues: user.counts.map { ($0.answer, $0.number) })
      if let place = places[key] {
        groups[place].users.append(user)
      } else {
        places[key] = groups.count
        groups.append((key, [user]))
      }
    }
    return groups.map { Row(users: $0.users) }
      .sorted { $1.users[0].number(.granted) < $0.users[0].number(.granted) }
  }

  /// Whether part of the tree was not checked, so that no user is known to have access to all of
  /// it.
  private func isPartial(_ result: CensusResult) -> Bool {
    result.counts.undetermined + result.counts.unlisted > 0 || result.isStopped
  }

  private func mark(_ user: CensusUser, _ result: CensusResult) -> String {
    if user.number(.undetermined) > 0 || isPartial(result) { return style.mark(.unknown) }
    if user.number(.granted) == 0 { return style.mark(.no) }
    return user.number(.refused) == 0
      ? style.mark(.yes) : style.mark(.partly)
  }

  private func amount(_ user: CensusUser, _ result: CensusResult) -> String {
    let granted = user.number(.granted)
    if granted == 0 { return "none" }
    let isAll = user.number(.refused) + user.number(.undetermined) == 0 && !isPartial(result)
    return isAll ? "all" : granted.grouped
  }

  private func rules(_ user: CensusUser) -> String {
    let parts = [
      (CensusAnswer.Verdict.granted, ""), (.refused, "refused: "),
      (.undetermined, "unknown: "),
    ].compactMap { verdict, words -> String? in
      let counts = user.counts.filter { $0.answer.verdict == verdict }
      guard !counts.isEmpty else { return nil }
      let isAll = counts.count == user.counts.count && counts.count == 1
      let shown = isVerbose ? counts[...] : counts.prefix(3)
      let rules = shown.map { count in
        let rule = RuleWords(count.answer.rule.description)
        if verdict == .granted {
          return counts.count == 1 ? rule.grant : "\(count.number.grouped) \(rule.grant)"
        }
        let name = count.answer.isSearch ? rule.closing("a folder above") : rule.refusal
        return isAll ? name : "\(count.number.grouped) (\(name))"
      }
      let rest = counts.dropFirst(shown.count).reduce(0) { $0 + $1.number }
      return words
        + (rules + (rest > 0 ? ["\(rest.grouped) for other reasons"] : []))
        .joined(separator: ", ")
    }
    return parts.joined(separator: "; ")
  }

  private func possibleRefusals(_ result: CensusResult) -> String {
    var text = ""
    for (cause, count) in result.causes {
      let folder = Sanitizer.clean(cause.folder.description)
      text +=
        "\(style.mark(.unknown)) in \(folder): \(RuleWords(cause.rule).refusal), \(count.grouped)\n"
    }
    if result.counts.unlisted > 0 {
      text +=
        style.dim(
          "\(Self.folders(result.counts.unlisted)) cannot be listed by permcheck, so what is below was not checked; try again as root"
        ) + "\n"
    }
    if result.isStopped { text += style.yellow("stopped before the end") + "\n" }
    return text
  }
}
