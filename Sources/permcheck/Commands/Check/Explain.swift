import ArgumentParser
import JSONSyntax
import PermissionKit
import PermissionKitPlugins

struct Explain: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows each step of the path, and the smallest fix.",
    discussion: """
      EXAMPLES
        permcheck explain /srv/photos/2024/a.jpg --user www-data
        permcheck explain /srv/photos --future --creator ada --umask 027
        permcheck explain /srv/spool/job7 --to delete --user ada
        permcheck explain /srv/a --to rename /srv/b
        permcheck explain ~/.ssh/authorized_keys --as-used-by sshd
        permcheck explain /srv --json > facts.json   for permcheck evaluate

      An argument with a slash is a path; any other argument is an accessor.
      Of --to, rename and link have a second path, chown an owner: ada:video.
      """)

  @Argument(
    help: ArgumentHelp("An accessor (camera, mic=PATH, …) or a path.", valueName: "name|path"),
    completion: .accessors)
  var names: [PathBytes]

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(help: "Show the permissions that the next file and folder in a folder will get.")
  var future = false

  @Option(
    help: ArgumentHelp(
      "Who creates them; by default the process of --pid, or you.", valueName: "name|uid"),
    completion: .users)
  var creator: TextArgument?

  @Option(
    help: ArgumentHelp(
      "The umask of the creator, such as 022; by default that of the process.",
      valueName: "octal"), completion: .list(["022", "027", "077", "002"]))
  var umask: TextArgument?

  @Option(
    help: ArgumentHelp(
      "Ask about \(OperationArgument.names.joined(separator: ", ")) instead of opening the path.",
      valueName: "operation"), completion: .list(OperationArgument.names))
  var to: OperationArgument?

  @Option(
    help: ArgumentHelp(
      "Ask for this program's own rule, such as sshd.", valueName: "program"),
    completion: .list(ProgramRules.programs))
  var asUsedBy: ProgramArgument?

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions

  /// The same question, without the parser.
  var choice: ExplainChoice {
    var choice = ExplainChoice(
      names: names, all: all, subject: subject.choice, output: output.choice)
    if future {
      choice.future = FutureChoice(
        creator: creator?.text, umask: umask.flatMap { Self.bits($0.text) })
    }
    choice.operation = to?.name
    choice.program = asUsedBy?.program
    return choice
  }

  func validate() throws {
    if !future {
      for (option, isGiven) in [("--creator", creator != nil), ("--umask", umask != nil)]
      where isGiven {
        throw ValidationError("\(option) needs --future")
      }
    }
    if let asUsedBy {
      try asUsedBy.validate("--as-used-by")
      for (option, isGiven) in [
        ("--to", to != nil), ("--future", future), ("--need", subject.choice.need != nil),
      ] where isGiven {
        throw ValidationError("--as-used-by and \(option) cannot be combined")
      }
    }
    if to != nil {
      if future { throw ValidationError("--to and --future cannot be combined") }
      if subject.choice.need != nil {
        throw ValidationError("--to and --need cannot be combined")
      }
    }
    if let umask, Self.bits(umask.text) == nil {
      throw ValidationError(
        "--umask \(Sanitizer.clean(umask.text)): expected octal digits from 0 to 777, as in 022")
    }
  }

  /// Parses a umask, as umask(1p) prints it: one to four octal digits.
  static func bits(_ text: String) -> UInt16? {
    guard (1...4).contains(text.utf8.count), let bits = UInt16(text, radix: 8), bits <= 0o777,
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
    else { return nil }
    return bits
  }

  func run(_ accessors: Accessors) throws {
    let status = try choice.run(accessors)
    if status != .authorized { throw status.code }
  }
}

/// The name of an operation on the command line.
struct OperationArgument: ExpressibleByArgument {
  static let names = NamedOperation.Name.allCases.map(\.rawValue)

  let name: NamedOperation.Name

  init?(argument: String) {
    guard let name = NamedOperation.Name(rawValue: argument) else { return nil }
    self.name = name
  }
}

/// The name of a program that has rules on owners and modes, see `ProgramRules`.
struct ProgramArgument: ExpressibleByArgument {
  let program: String

  init(argument: String) { program = argument }

  /// Throws an error that names the programs, unless this is one.
  func validate(_ option: String) throws {
    guard !ProgramRules.programs.contains(where: { $0.isExactly(program) }) else { return }
    throw ValidationError(
      "\(option) \(Sanitizer.clean(program)): known programs are \(ProgramRules.programs.joined(separator: ", "))"
    )
  }
}

/// The arguments of permcheck explain --future.
struct FutureChoice: Hashable {
  /// The name or number of the user who makes the files; nil for a process.
  var creator: String? {
    get { exactCreator?.string }
    set { exactCreator = newValue.map(ExactString.init) }
  }
  private var exactCreator: ExactString?
  /// The umask, 0 to 0777; nil for that of the process.
  var umask: UInt16?

  init(creator: String? = nil, umask: UInt16? = nil) {
    exactCreator = creator.map(ExactString.init)
    self.umask = umask
  }
}
