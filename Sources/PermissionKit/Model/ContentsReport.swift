/// The result of a check of a folder and everything in it.
package struct ContentsReport: Hashable, Sendable {
  /// A cause by which many files and folders are refused, or their access is unknown.
  package struct Cause: Hashable, Sendable {
    /// The folder that refuses search, or that the names are in.
    package var folder: PathBytes
    /// Whether the folder refuses search, which includes everything below.
    package var isSearch: Bool
    /// Whether the names are in several folders below.
    package var isBelow: Bool
    /// The rule, in one word: `other-bits`.
    package var rule: String
    /// The number of files and folders.
    package var count: Int

    package init(folder: PathBytes, isSearch: Bool, isBelow: Bool, rule: String, count: Int) {
      self.folder = folder
      self.isSearch = isSearch
      self.isBelow = isBelow
      self.rule = rule
      self.count = count
    }
  }

  /// The number of files and folders that were checked.
  package var asked = 0
  /// The number of files and folders that are refused.
  package var refused = 0
  /// The number of files and folders whose access is unknown.
  package var undetermined = 0
  /// The number of folders that the checking process cannot list, so that nothing below them is
  /// known.
  package var unlisted = 0
  /// The number of granted files of others in sticky folders, which the kernel does not open with O_CREAT.
  package var protected = 0
  /// The causes, those that refuse most first.
  package var causes: [Cause] = []
  /// The refused paths; fewer than `refused` if the list is not complete.
  package var paths: [PathBytes] = []
  /// The reason why not everything was checked; nil if everything was.
  package var obstacle: String?

  package init() {}

  /// The files and folders that are granted.
  package var granted: Int { max(asked - refused - undetermined, 0) }
  /// Whether the access to some files is unknown.
  package var isUnknown: Bool { undetermined > 0 || unlisted > 0 || obstacle != nil }
  /// Whether the list of refused paths is not complete.
  package var isCut: Bool { paths.count < refused }

  /// Returns that this many files of others in sticky folders are granted, and not opened with O_CREAT.
  package static func caveat(ofProtected count: Int) -> String? {
    if count == 0 { return nil }
    let files = count == 1 ? "1 file belongs" : "\(count.grouped) files belong"
    return
      "\(files) to others in sticky folders, where the kernel opens with O_CREAT, as a shell's > does, only for the owner (fs.protected_regular, fs.protected_fifos)"
  }

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
