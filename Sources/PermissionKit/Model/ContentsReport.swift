/// What a check found in a folder, the folder itself included.
package struct ContentsReport: Hashable, Sendable {
  /// What many files and folders are refused by, or cannot be told by.
  package struct Cause: Hashable, Sendable {
    /// The folder that refuses search, or that the names are in.
    package var folder: PathBytes
    /// Whether the folder refuses search, so that it and everything below count.
    package var isSearch: Bool
    /// Whether the names are in several folders below.
    package var isBelow: Bool
    /// The rule, in one word: `other-bits`.
    package var rule: String
    /// How many files and folders.
    package var count: Int

    package init(folder: PathBytes, isSearch: Bool, isBelow: Bool, rule: String, count: Int) {
      self.folder = folder
      self.isSearch = isSearch
      self.isBelow = isBelow
      self.rule = rule
      self.count = count
    }
  }

  /// The files and folders that were asked about.
  package var asked = 0
  /// How many of them are refused.
  package var refused = 0
  /// How many of them cannot be told.
  package var undetermined = 0
  /// The folders that cannot be listed by who checks, so that nothing below them is known.
  package var unlisted = 0
  /// The causes, those that refuse most first.
  package var causes: [Cause] = []
  /// What is refused; not complete if there are fewer than `refused`.
  package var paths: [PathBytes] = []
  /// Why not everything was asked about; nil if it was.
  package var obstacle: String?

  package init() {}

  /// The files and folders that are granted.
  package var granted: Int { max(asked - refused - undetermined, 0) }
  /// Whether something is not known.
  package var isUnknown: Bool { undetermined > 0 || unlisted > 0 || obstacle != nil }
  /// Whether what is refused is not listed completely.
  package var isCut: Bool { paths.count < refused }

  /// `8 of 12 files and folders`, or `all 12 files and folders`.
  package var words: String {
    if asked == 1 { return isUnknown ? "" : "an empty folder" }
    let all = "\(asked.grouped) files and folders"
    return granted == asked ? (isUnknown ? all : "all \(all)") : "\(granted.grouped) of \(all)"
  }
}

extension Int {
  /// The number with commas: `1,204`.
  package var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index % 3 == 0, digit != "-" { text = "," + text }
      text = String(digit) + text
    }
    return text
  }
}
