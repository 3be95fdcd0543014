import ArgumentParser
import PermissionKit

struct Audit: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Lists every file and folder below that is not accessible, and what refuses.",
    discussion: """
      An argument with a slash is a path; any other argument is an accessor. A folder
      is entered where it can be listed, as by find; a symbolic link is judged by its
      target and never entered. Network and FUSE file systems that are mounted below
      are not entered. For another user, root asks the kernel with the ids of that
      user; anybody else predicts the answers from modes and ACLs.

      EXAMPLES
        permcheck audit photos
        permcheck audit /srv/photos --user www-data --summary
        sudo permcheck audit /srv/photos --user www-data --deep --summary
        permcheck audit /srv/photos --null | xargs -0 ls -ld
        permcheck audit /srv -x --json | jq -r .path

      EXIT STATUS
        0   everything is accessible
        1   something is not
        2   something cannot be determined
      """)

  @Argument(
    help: ArgumentHelp("An accessor (photos, mic=PATH, …) or a path.", valueName: "name|dir"),
    completion: .accessors)
  var names: [PathBytes]

  @OptionGroup var who: WhoOptions

  @Flag(name: [.customShort("x"), .long], help: "Stay on the file systems of the arguments.")
  var oneFileSystem = false

  @Flag(help: "For another user: also go on below folders that the user cannot enter.")
  var deep = false

  @Flag(help: "Print only the totals.")
  var summary = false

  @Flag(help: "Print only the paths, as given, each ended by NUL.")
  var null = false

  @Option(
    help: ArgumentHelp("How many threads ask, 1 to 64.", valueName: "n"),
    completion: .list(["1", "2", "4", "8"]))
  var threads = 2

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if !(1...64).contains(threads) {
      throw ValidationError("--threads \(threads): expected 1 to 64")
    }
    if null, summary || output.form.json || output.form.format != nil {
      throw ValidationError("--null cannot be combined with --summary, --json and --format")
    }
    if deep, who.user == nil, who.uid == nil {
      throw ValidationError("--deep requires --user or --uid")
    }
    if who.user != nil, who.uid != nil {
      throw ValidationError("--user and --uid cannot be combined")
    }
  }

  func run(_ accessors: Accessors) throws {
    var choice = AuditChoice(names: names, output: output.choice)
    choice.subject = SubjectChoice(
      user: who.user?.text, uid: who.uid, gid: who.gid, groups: who.supplementary ?? [],
      others: who.userNames.dropFirst().map(\.text),
      need: who.wanted)
    choice.staysOnFileSystem = oneFileSystem
    choice.isDeep = deep
    choice.threads = threads
    choice.list = null ? .null : summary || output.quiet ? .none : .lines
    let status = try choice.run(accessors)
    if status != .authorized { throw status.code }
  }
}
