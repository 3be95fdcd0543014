import ArgumentParser

/// The options of commands that only print a list.
struct FormatOptions: ParsableArguments {
  @Option(help: "Output format: human, plain (tab-separated lines) or json.")
  var format: FormatName?

  @Flag(help: "Same as --format json.")
  var json = false

  @Option(help: "When to use colours; auto obeys NO_COLOR.")
  var color: Style.Color = .auto

  func validate() throws {
    if json, let format, format.type != JSONFormat.self {
      throw ValidationError("--json and --format \(format.type.name) cannot be combined")
    }
  }

  /// What the options choose.
  var choice: OutputChoice {
    OutputChoice(form: json ? JSONFormat.self : format?.type ?? HumanFormat.self, color: color)
  }

  /// Returns the chosen format for a console.
  func format(_ console: Console) -> any ReportFormat { choice.format(console) }
}

/// The options that control the output of reports.
struct OutputOptions: ParsableArguments {
  @OptionGroup var form: FormatOptions

  @Flag(name: .shortAndLong, help: "Print nothing; only set the exit status.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Also print all evidence, and warnings.")
  var verbose = false

  /// What the options choose.
  var choice: OutputChoice {
    OutputChoice(
      form: form.choice.form, color: form.color, quiet: quiet, verbose: verbose)
  }

  func validate() throws {
    if quiet, verbose { throw ValidationError("-q and -v cannot be combined") }
  }
}

/// How a command prints its reports.
struct OutputChoice {
  var form: any ReportFormat.Type = HumanFormat.self
  var color = Style.Color.auto
  var quiet = false
  var verbose = false

  /// Returns the chosen format for a console.
  func format(_ console: Console) -> any ReportFormat {
    form.init(console.style, isVerbose: verbose)
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
