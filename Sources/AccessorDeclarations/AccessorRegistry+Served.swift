import DeclaredAccessors
package import PermissionKit

extension AccessorRegistry {
  /// The accessors whose devices the root side gives to an ordinary user: cameras, microphones, and what is
  /// declared with `grant = "acl"`, compiled in or by a file that root alone can change.
  ///
  /// - Parameter files: The files, of root alone.
  /// - Returns: The accessors, each by its name.
  package static func served(_ files: DeclarationFiles) -> AccessorRegistry {
    files.registry().registry.filter { entry in
      entry.family != nil && (entry.origin == .builtIn || entry.declaration?.grant == .acl)
    }
  }
}
