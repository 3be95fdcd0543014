import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// The options of commands that only print a list.
struct FormatOptions: ParsableArguments {
  @Option(
    help:
      "Output format: human, plain (tab-separated lines) or json; check and verify also have junit, tap, github, gitlab (code quality), nagios and openmetrics."
  )
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

  /// The output that the options choose.
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

  /// The output that the options choose.
  var choice: OutputChoice {
    OutputChoice(
      form: form.choice.form, color: form.color, quiet: quiet, verbose: verbose)
  }

  func validate() throws {
    if quiet, verbose { throw ValidationError("-q and -v cannot be combined") }
  }
}

/// The option of commands that print one result.
struct ResultOptions: ParsableArguments {
  @Option(
    name: .customLong("output"),
    help: ArgumentHelp(
      "Write the result to this file, all at once, instead of to standard output.",
      valueName: "file"),
    completion: .file())
  var file: PathBytes?
}

/// How a command prints its reports.
struct OutputChoice {
  var form: any ReportFormat.Type = HumanFormat.self
  var color = Style.Color.auto
  var quiet = false
  var verbose = false

  /// The file to write instead of standard output; nil without `--output`.
  var file: PathBytes?

  /// Returns the chosen format for a console.
  func format(_ console: Console) -> any ReportFormat {
    form.init(console.style, isVerbose: verbose)
  }

  /// Adds to the summary of a job of GitHub Actions, which names its file in GITHUB_STEP_SUMMARY.
  ///
  /// - Throws: If the file cannot be written.
  func addSummary(
    _ format: any ReportFormat, _ findings: @autoclosure () -> Findings, _ system: any System
  ) throws {
    guard form == GitHubFormat.self, let path = system.getenv("GITHUB_STEP_SUMMARY"),
      !path.isEmpty, let text = format.summary(findings())
    else { return }
    do throws(Errno) {
      let file = try system.openat(
        .currentDirectory, path, [.writeOnly, .create, .append], mode: 0o644)
      defer { system.close(file) }
      try system.writeAll(file, Array(text.utf8))
    } catch {
      throw PermissionError(
        .system, "the summary of the job cannot be written", path: path, call: "open", errno: error)
    }
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
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension Style.Color: ExpressibleByArgument {}

extension Console {
  convenience init(_ system: any System, _ output: OutputChoice) {
    self.init(system, color: output.color, isQuiet: output.quiet, file: output.file)
  }

  /// Writes standard output, and throws the exit status unless it is 0.
  func finish(_ status: ExitStatus) throws {
    try flush()
    if status != .authorized { throw status.code }
  }
}

extension ExitStatus {
  /// The status as an error of the parser, which exits with it.
  var code: ExitCode { ExitCode(rawValue) }
}
