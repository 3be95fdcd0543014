/// The work of one thread on each file of a tree, instead of a check.
///
/// The walk stays on the mount where it began. This is a struct of closures because the
/// conformances to a protocol are linked into every program.
package struct TreeVisitor {
  /// The visitor's own state for a folder while the walk is in it; nil above the top.
  package typealias Inside = (any Sendable)?

  /// Enters a folder that is open for reading, with its path, before its names are read.
  let enter: (_ folder: Descriptor, _ path: PathBytes, _ above: Inside) -> Inside
  /// Whether `wants` needs exact inode numbers, which costs a statx(2) for each name.
  let wantsNumbers: Bool
  /// Returns whether `take` is called for a file or folder with an access ACL.
  let wants: (_ acl: [UInt8], _ inode: UInt64, _ folder: Inside) -> Bool
  /// Takes a file or folder, open with O_PATH, and closes it.
  let take: (_ inode: Descriptor, _ path: () -> PathBytes, _ folder: Inside) -> Void
  /// Called when all names of a folder were read.
  let didRead: (_ folder: Descriptor) -> Void
  /// Called for a name that disappeared before the walk reached it.
  let didMiss: () -> Void
  /// Called when the thread has nothing more to do.
  let finish: () -> Void
}
