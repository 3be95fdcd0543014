/// What one thread of a walk does with a tree, instead of asking about it.
///
/// The walk stays on the mount where it began.
package protocol TreeVisitor: AnyObject {
  /// Enters a folder, before its names are read.
  ///
  /// - Parameters:
  ///   - folder: The folder, open for reading.
  ///   - path: Its path, for messages.
  ///   - above: What `enter` returned for the folder above; nil for a top.
  /// - Returns: What is remembered of the folder as long as the walk is in it.
  func enter(
    _ folder: Descriptor, _ path: PathBytes, below above: (any Sendable)?
  ) -> (any Sendable)?
  /// Whether `wants` has to know the numbers of inodes for sure, for which each is asked for its fields.
  var wantsNumbers: Bool { get }
  /// Returns whether `take` shall see a file or folder.
  ///
  /// - Parameters:
  ///   - acl: The value of its access ACL.
  ///   - inode: The number of its inode.
  ///   - folder: What `enter` returned for its folder.
  /// - Returns: Whether to take it.
  func wants(_ acl: [UInt8], _ inode: UInt64, in folder: (any Sendable)?) -> Bool
  /// Takes a file or folder.
  ///
  /// - Parameters:
  ///   - inode: The inode, open with O_PATH; the visitor closes it.
  ///   - path: Its path, for messages.
  ///   - folder: What `enter` returned for its folder.
  func take(_ inode: Descriptor, _ path: @autoclosure () -> PathBytes, in folder: (any Sendable)?)
  /// Notes that all names of a folder were read.
  func didRead(_ folder: Descriptor)
  /// Notes that a name went before the walk came to it.
  func didMiss()
  /// Called when the thread has nothing more to do.
  func finish()
}
