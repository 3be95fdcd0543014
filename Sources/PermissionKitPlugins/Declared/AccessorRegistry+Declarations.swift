public import PermissionKit

extension AccessorDeclaration {
  /// The declarations that are compiled into this library: those of the folder Accessors.
  public static let shipped: [AccessorDeclaration] = shippedTexts.compactMap {
    DeclarationReader(Array($0.utf8)).declaration
  }
}

extension AccessorRegistry {
  /// The accessors of this library, and those whose declarations are compiled in: serial, gpu, kvm, ….
  public static var shipped: AccessorRegistry {
    var registry = standard
    for declaration in AccessorDeclaration.shipped { registry.put(declaration, .shipped) }
    registry.add(
      "codec", summary: "video codecs (V4L2)", family: CodecAccessor.family, origin: .shipped
    ) {
      CodecAccessor($0, analytics: $1)
    }
    return registry
  }

  /// Adds an accessor that a declaration describes, and replaces one with the same name that is not
  /// built in.
  ///
  /// - Parameters:
  ///   - declaration: What the accessor is.
  ///   - origin: Where the declaration comes from.
  /// - Throws: If the declaration has a mistake, or its name or an alias is that of another accessor.
  public mutating func add(
    _ declaration: AccessorDeclaration, origin: Origin = .program
  ) throws(PermissionError) {
    if let mistake = (declaration.mistakes + clashes(of: declaration)).first {
      throw PermissionError(
        .invalidArgument,
        "the accessor \(Sanitizer.clean(declaration.name)) cannot be added: \(mistake.key): \(mistake.message)"
      )
    }
    put(declaration, origin)
  }

  private mutating func put(_ declaration: AccessorDeclaration, _ origin: Origin) {
    add(
      declaration.name, aliases: declaration.aliases, summary: declaration.summary,
      family: declaration.family, origin: origin
    ) {
      DeclaredAccessor(declaration, $0, analytics: $1)
    }
  }

  /// The names and aliases of a declaration that belong to other accessors.
  package func clashes(of declaration: AccessorDeclaration) -> [AccessorDeclaration.Mistake] {
    var found: [AccessorDeclaration.Mistake] = []
    let others = entries.filter { $0.name != declaration.name || $0.origin == .builtIn }
    func check(_ name: String, _ key: String, _ index: Int?) {
      guard
        let other = others.first(where: { other in
          // An alias of a declared accessor gives way to a name.
          other.name == name
            || other.aliases.contains(name) && (other.origin == .builtIn || key == "aliases")
        })
      else { return }
      let word = other.origin == .builtIn ? "the built-in accessor" : "the accessor"
      found.append(
        AccessorDeclaration.Mistake(
          key: key, index: index, message: "\"\(name)\" is \(word) \(other.name)"))
    }
    check(declaration.name, "name", nil)
    for (index, alias) in declaration.aliases.enumerated() { check(alias, "aliases", index) }
    return found
  }
}

extension AccessorRegistry.Entry {
  /// The declaration of the accessor; nil for an accessor with code of its own.
  public var declaration: AccessorDeclaration? {
    // Making an accessor reads nothing.
    (make(AccessContext(), .discard) as? DeclaredAccessor)?.declaration
  }

  /// Whether permcheck-helper gives access: to cameras, microphones, and nodes that are declared
  /// with `grant = "acl"`.
  package var isHelperGrantable: Bool {
    family != nil && (origin == .builtIn || declaration?.grant == .acl)
  }

  /// The devices that permcheck-helper does not give, unless root's own file declares the accessor.
  package var withheldFromUsers: [DeviceFamily.Numbers] {
    if case .file(let path) = origin, path.hasPrefix("/etc/permcheck/accessors.d/") { return [] }
    return [Terminals.builtInPorts]
  }
}
