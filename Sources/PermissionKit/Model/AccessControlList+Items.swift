/// A part of an ACL that is merged as a whole: the bits of the owner, of the owning group or of others,
/// the mask, or the entry of a user or group.
struct ACLItem: Hashable, Sendable {
  let tag: AccessControlList.Tag
  /// The uid or gid of a named entry; `undefinedID` for the other tags.
  let id: UInt32

  init(_ tag: AccessControlList.Tag, id: UInt32 = AccessControlList.Entry.undefinedID) {
    self.tag = tag
    self.id = tag == .user || tag == .group ? id : AccessControlList.Entry.undefinedID
  }

  init(_ entry: AccessControlList.Entry) { self.init(entry.tag, id: entry.id) }

  var isNamed: Bool { tag == .user || tag == .group }
  /// Whether the mask limits the item.
  var isMasked: Bool { isNamed || tag == .owningGroup }
}

extension ACLItem {
  static let owner = ACLItem(.owner)
  static let owningGroup = ACLItem(.owningGroup)
  static let mask = ACLItem(.mask)
}

extension AccessControlList {
  /// The permissions of an item; where a user is named twice the first entry decides.
  subscript(item: ACLItem) -> Permissions? {
    get { entries.first { ACLItem($0) == item }?.permissions }
    set {
      if let newValue {
        set([item: newValue])
      } else {
        entries.removeAll { ACLItem($0) == item }
      }
    }
  }

  /// Sets items; what was not there is inserted in the order of posix_acl_valid().
  mutating func set(_ items: [ACLItem: Permissions]) {
    var rest = items
    for index in entries.indices {
      guard let value = rest.removeValue(forKey: ACLItem(entries[index])) else { continue }
      entries[index].permissions = value
    }
    if rest.isEmpty { return }
    entries += rest.map { Entry($0.tag, id: $0.id, $1) }
    sort()
  }

  mutating func sort() {
    entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
  }

  /// Lowers everything that the mask limits.
  mutating func limit(to mask: Permissions) {
    for index in entries.indices where entries[index].isMasked {
      entries[index].permissions.formIntersection(mask)
    }
  }

  /// The items of users and groups, each once.
  var named: [ACLItem] {
    Set(entries.map(ACLItem.init)).filter(\.isNamed).sorted {
      ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id)
    }
  }

  var hasNamed: Bool { entries.contains { $0.tag == .user || $0.tag == .group } }

  /// The most that named entries and the owning group get.
  var top: Permissions { mask ?? self[.owningGroup] ?? [] }

  /// The ACL with a mask that limits only the owning group folded into the group's bits.
  var withoutIdleMask: AccessControlList {
    guard let mask, !hasNamed else { return self }
    var list = self
    list[.owningGroup]?.formIntersection(mask)
    list[.mask] = nil
    return list
  }

  /// The entries of the owner, the owning group and others.
  var unnamed: AccessControlList {
    AccessControlList(entries.filter { [.owner, .owningGroup, .other].contains($0.tag) })
  }

  /// The nine mode bits of the ACL, as stat(2) shows them.
  var mode: UInt16 {
    entries.reduce(into: 0) { mode, entry in
      let bits = UInt16(entry.permissions.rawValue)
      switch entry.tag {
      case .owner: mode |= bits << 6
      case .mask: mode |= bits << 3
      case .owningGroup: if mask == nil { mode |= bits << 3 }
      case .other: mode |= bits
      case .user, .group: break
      }
    }
  }

  /// The ACL as in `u::rwx,u:5:rwx,g::r-x,m::rwx,o::---`.
  var brief: String { entries.map(\.brief).joined(separator: ",") }

  /// Reads what `brief` writes; nil for anything else.
  init?(brief text: String) {
    self.init([])
    // As bytes: to find characters takes far longer.
    for part in text.utf8.split(separator: UInt8(ascii: ",")) {
      guard let entry = Entry(brief: part) else { return nil }
      entries.append(entry)
    }
  }
}

extension AccessControlList? {
  /// The permissions by item.
  var items: [ACLItem: Permissions] {
    Dictionary(
      (self?.entries ?? []).map { (ACLItem($0), $0.permissions) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension AccessControlList.Entry {
  private static let letters:
    [(letter: Character, unnamed: AccessControlList.Tag, named: AccessControlList.Tag)] = [
      ("u", .owner, .user), ("g", .owningGroup, .group), ("m", .mask, .mask), ("o", .other, .other),
    ]

  /// The entry as in `u:5:rwx`.
  fileprivate var brief: String {
    let kind = Self.letters.first { $0.unnamed == tag || $0.named == tag }?.letter ?? "?"
    return "\(kind):\(ACLItem(self).isNamed ? "\(id)" : ""):\(permissions)"
  }

  /// Reads what `brief` writes; nil for anything else.
  fileprivate init?(brief text: Substring.UTF8View) {
    let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map(Substring.init)
    guard fields.count == 3, fields[0].utf8.count == 1,
      let kind = Self.letters.first(where: { $0.letter.utf8.first == fields[0].utf8.first })
    else { return nil }
    let id = UInt32(fields[1])
    guard let permissions = Permissions(fields[2]), fields[1].isEmpty || id != nil
    else { return nil }
    self.init(id == nil ? kind.unnamed : kind.named, id: id ?? Self.undefinedID, permissions)
  }
}
