import ArgumentParser

/// The options that control the output.
struct OutputOptions: ParsableArguments {
  @Option(help: "Output format: human, plain (tab-separated lines) or json.")
  var format: FormatName?

  @Flag(help: "Same as --format json.")
  var json = false

  @Option(help: "When to use colours; auto obeys NO_COLOR.")
  var color: Style.Color = .auto

  @Flag(name: .shortAndLong, help: "Print nothing; only set the exit status.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Also print all evidence, and warnings.")
  var verbose = false

  func validate() throws {
    if json, let format, format.type != JSONFormat.self {
      throw ValidationError("--json and --format \(format.type.name) cannot be combined")
    }
    if quiet, verbose { throw ValidationError("-q and -v cannot be combined") }
  }

  /// Returns the chosen format for a console.
  func format(_ console: Console) -> any ReportFormat {
    let type = json ? JSONFormat.self : format?.type ?? HumanFormat.self
    return type.init(console.style, isVerbose: verbose)
  }
}

/// An argument that names an output format.
struct FormatName: ExpressibleByArgument {
  let type: any ReportFormat.Type

  init?(argument: String) {
    guard let type = ReportFormats.named(argument) else { return nil }
    self.type = type
  }

  static var allValueStrings: [String] { ReportFormats.all.map { $0.name } }
}

extension Style.Color: ExpressibleByArgument {}
