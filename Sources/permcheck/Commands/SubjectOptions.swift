import ArgumentParser
import PermissionKit

/// The options that choose the subject, the permissions and the root directory.
struct SubjectOptions: ParsableArguments {
  @OptionGroup var who: WhoOptions
  @OptionGroup var view: ViewOptions

  /// What the options choose.
  var choice: SubjectChoice { who.choice(view) }

  func validate() throws {
    if [who.user != nil, who.uid != nil, view.pid != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid and --pid cannot be combined")
    }
  }
}
