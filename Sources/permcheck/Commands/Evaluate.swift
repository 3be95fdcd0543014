import ArgumentParser
import PermissionDocuments
import PermissionKit

struct Evaluate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate",
    abstract: "Judges the facts that permcheck explain --json saved, on any machine.",
    discussion: """
      EXAMPLES
        permcheck explain camera --json > facts.json
        permcheck evaluate facts.json
        permcheck evaluate facts.json --user-facts other.json   for another subject
        permcheck explain camera --json | permcheck evaluate -
      """)

  @Argument(
    help: ArgumentHelp(
      "Output of permcheck explain --json; - reads standard input.", valueName: "facts"))
  var file: PathBytes

  @Option(help: ArgumentHelp("Judge for the subject in this document instead.", valueName: "facts"))
  var userFacts: PathBytes?

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    var document = try read(file, system)
    if let userFacts {
      let other = try read(userFacts, system)
      document.subject = other.subject
      document.names.add(other.names, of: other.subject.credentials)
    }
    let explanation = Explainer.explain(
      document.targets, subject: document.subject, facts: document.facts, names: document.names)
    let output = output.choice
    let status = try ExplainChoice.print(
      explanation, console: Console(system, output), output, wantsAll: all)
    if status != .authorized { throw status.code }
  }

  /// Returns all of a file, which may be a pipe that somebody still writes to.
  private func contents(_ file: Descriptor, _ system: any System) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      do throws(Errno) {
        let part = try system.read(file, 1 << 16)
        if part.isEmpty { return bytes }
        bytes += part
      } catch .EAGAIN {
        _ = try system.poll([PollRequest(file, .readable)], timeout: nil)
      }
      if bytes.count > 1 << 28 { throw .EFBIG }
    }
  }

  private func read(_ path: PathBytes, _ system: any System) throws -> FactsDocument {
    let name = path == "-" ? "standard input" : Sanitizer.clean(path.description)
    let bytes: [UInt8]
    do throws(Errno) {
      if path == "-" {
        bytes = try contents(Descriptor(rawValue: 0), system)
      } else {
        let file = try system.openat(.currentDirectory, path, [.readOnly], mode: 0)
        defer { system.close(file) }
        bytes = try contents(file, system)
      }
    } catch {
      throw ValidationError("\(name) cannot be read (\(error))")
    }
    do throws(DocumentError) {
      return try FactsDocument(bytes)
    } catch {
      throw ValidationError("\(name) \(error.message)")
    }
  }
}
