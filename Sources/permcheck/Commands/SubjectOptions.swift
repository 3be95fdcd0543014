import ArgumentParser
import PermissionKit

/// The options that choose the subject, the permissions and the root directory.
struct SubjectOptions: ParsableArguments {
  @OptionGroup var who: WhoOptions
  @OptionGroup var view: ViewOptions

  init() {}

  /// Creates the options of a command that shows only some of them in its help.
  init(_ who: WhoOptions, _ view: ViewOptions) {
    self.who = who
    self.view = view
  }

  /// What the options choose.
  var choice: SubjectChoice {
    SubjectChoice(
      user: who.user?.text, uid: who.uid, gid: who.gid, groups: who.supplementary ?? [],
      others: who.userNames.dropFirst().map(\.text),
      need: who.wanted, pid: view.pid, probe: view.probe, through: view.through, root: view.root)
  }

  func validate() throws {
    if [who.user != nil, who.uid != nil, view.pid != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid and --pid cannot be combined")
    }
  }
}
