import ArgumentParser
import PermissionKit
import PermissionKitPlugins

struct Audit: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Lists what cannot be read in a folder, and why.",
    discussion: """
      EXAMPLES
        permcheck audit photos
        permcheck audit /srv/photos --user www-data --summary
        sudo permcheck audit /srv/photos --user www-data --deep --summary
        permcheck audit /srv/photos --null | xargs -0 ls -ld
        permcheck audit /srv -x --json | jq -r .path
        sudo permcheck audit /srv/photos --who

      The exit status is 0 if everything is accessible, 1 if something is not, and 2
      if something cannot be determined; with --who 0, or 2.
      """)

  @Argument(
    help: ArgumentHelp("An accessor (photos, mic=PATH, …) or a path.", valueName: "name|dir"),
    completion: .accessors)
  var names: [PathBytes]

  @OptionGroup var who: WhoOptions

  @Flag(name: [.customShort("x"), .long], help: "Stay on the file systems of the arguments.")
  var oneFileSystem = false

  @Flag(
    help: "For another user or process: also go on below folders that the user cannot enter.")
  var deep = false

  @Flag(
    name: .customLong("who"),
    help:
      "Count what each user has access to, and by which rule; --user and --group choose users."
  )
  var countsUsers = false

  @Option(
    help: ArgumentHelp("With --who: the members of this group.", valueName: "name"),
    completion: .groupNames)
  var group: TextArgument?

  @Option(
    help: "Check for this running process, which must have the same root directory and mounts.",
    completion: .processes)
  var pid: Int32?

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
    if deep, who.user == nil, who.uid == nil, pid == nil {
      throw ValidationError("--deep requires --user, --uid or --pid")
    }
    try who.requireOne(pid)
    if countsUsers, who.uid != nil || pid != nil || null || deep {
      throw ValidationError("--who cannot be combined with --uid, --pid, --null and --deep")
    }
    if group != nil, !countsUsers || who.user != nil {
      throw ValidationError(
        countsUsers ? "--user and --group cannot be combined" : "--group requires --who")
    }
  }

  func run(_ accessors: Accessors) throws {
    var choice = AuditChoice(names: names, output: output.choice)
    let who = group.map { [.group($0.text)] } ?? who.chosen(pid)
    choice.subject = SubjectChoice(who: who, need: self.who.wanted)
    choice.countsUsers = countsUsers
    choice.staysOnFileSystem = oneFileSystem
    choice.isDeep = deep
    choice.threads = threads
    choice.list = null ? .null : summary || output.quiet ? .none : .lines
    let status = try choice.run(accessors)
    if status != .authorized { throw status.code }
  }
}
