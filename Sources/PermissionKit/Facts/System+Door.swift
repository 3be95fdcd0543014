// What somebody else can change, exchange or keep waiting is read by the door, and by nothing else.
extension System {
  /// Returns the door to what is below a root directory, see `System.door(below:as:within:)`.
  ///
  /// An ordinary user who looks at his own files has no more rights than behind the door, and gets this system.
  package func door(below root: PathBytes, as user: Credentials?) -> any System {
    if root == "/", let own = try? credentials(), own.effective.isEmpty, own.user.effective != 0,
      user == nil || user?.user == own.user && user?.group == own.group,
      (try? mountTable())?.hasBlocking == false
    {
      return self
    }
    return door(below: root, as: user, within: PathAvailability.limit)
  }

  /// Returns the door to a file that a user keeps, such as a setting in a home directory.
  ///
  /// It has the ids of the user. Root may have been given another user's HOME, as by su(1) with -m; then it has those of
  /// the owner of the folder.
  ///
  /// - Parameters:
  ///   - file: The file, which begins with `root`.
  ///   - subject: The user.
  ///   - root: The folder that stands for `/`.
  /// - Returns: The door, for this file and the folder that it is in.
  package func door(
    to file: PathBytes, of subject: Subject, below root: PathBytes = "/"
  ) -> any System {
    var user = subject.credentials
    if user.user.fileSystem == 0, let folder = examiner(of: file.parent),
      let owner = try? folder.status(of: file.parent), owner.uid != 0
    {
      user = Credentials(uid: owner.uid, gid: owner.gid, groups: [])
    }
    return door(below: root, as: user)
  }

  /// Returns the door to a file that the user of this process keeps.
  package func door(toOwn file: PathBytes) -> any System {
    guard let own = try? credentials() else {
      return door(below: "/", as: nil)
    }
    return door(to: file, of: Subject(source: .current, credentials: own))
  }
}
