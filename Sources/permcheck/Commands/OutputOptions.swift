import ArgumentParser

/// How the answer is printed.
struct OutputOptions: ParsableArguments {
  @Option(help: "How to print: human, plain (a tab-separated record a line) or json.")
  var format: FormatName?

  @Flag(help: "The same as --format json.")
  var json = false

  @Option(help: "When to colour; NO_COLOR is heeded.")
  var color: Style.Color = .auto

  @Flag(name: .shortAndLong, help: "Print nothing; the exit status says it all.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print all that was seen, and warnings.")
  var verbose = false

  func validate() throws {
    if json, let format, format.type != JSONFormat.self {
      throw ValidationError("--json and --format \(format.type.name) contradict each other")
    }
    if quiet, verbose { throw ValidationError("-q and -v contradict each other") }
  }

  /// The format that was asked for, for the terminal of a console.
  func format(_ console: Console) -> any ReportFormat {
    let type = json ? JSONFormat.self : format?.type ?? HumanFormat.self
    return type.init(console.style, isVerbose: verbose)
  }
}

/// The name of a format.
struct FormatName: ExpressibleByArgument {
  let type: any ReportFormat.Type

  init?(argument: String) {
    guard let type = ReportFormats.named(argument) else { return nil }
    self.type = type
  }

  static var allValueStrings: [String] { ReportFormats.all.map { $0.name } }
}

extension Style.Color: ExpressibleByArgument {}
