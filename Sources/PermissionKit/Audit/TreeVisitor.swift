/// What one thread of a walk does with a tree, instead of asking about it.
///
/// The walk stays on the mount where it began. It is a value of closures: what conforms to a protocol would
/// be in every program.
package struct TreeVisitor {
  /// What is remembered of a folder as long as the walk is in it; nil above the top.
  package typealias Inside = (any Sendable)?

  /// Enters a folder that is open for reading, with its path, before its names are read.
  let enter: (_ folder: Descriptor, _ path: PathBytes, _ above: Inside) -> Inside
  /// Whether `wants` has to know the numbers of inodes for sure, for which each is asked for its fields.
  let wantsNumbers: Bool
  /// Returns whether `take` shall see a file or folder with an access ACL.
  let wants: (_ acl: [UInt8], _ inode: UInt64, _ folder: Inside) -> Bool
  /// Takes a file or folder, open with O_PATH, and closes it.
  let take: (_ inode: Descriptor, _ path: () -> PathBytes, _ folder: Inside) -> Void
  /// Notes that all names of a folder were read.
  let didRead: (_ folder: Descriptor) -> Void
  /// Notes that a name went before the walk came to it.
  let didMiss: () -> Void
  /// Called when the thread has nothing more to do.
  let finish: () -> Void
}
