import ArgumentParser
import CSound
import Glibc
import PermissionKit
import PermissionKitArguments

@main struct Record: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Records sound with a microphone and writes a WAV file.")

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Option(help: "The microphone; by default the first that can be used.", completion: .file())
  var device: String?

  @Option(help: "How long to record, in seconds, from 1 to 3600.")
  var seconds: UInt32 = 5

  @Option(help: "Samples a second, from 4000 to 192000.")
  var rate: UInt32 = 8000

  @OptionGroup var permissions: PermissionOptions

  func validate() throws {
    guard (1...3600).contains(seconds) else { throw ValidationError("--seconds: from 1 to 3600") }
    guard (4000...192_000).contains(rate) else {
      throw ValidationError("--rate: from 4000 to 192000")
    }
  }

  func run() throws {
    let microphone = MicrophoneAccessor(AccessContext(path: device.map { PathBytes($0) }))
    let reports = try permissions.gate(microphone, purpose: "record needs the microphone")
    let node = reports[0].resources.first {
      $0.status == .authorized && $0.path.lastComponent.description.hasPrefix("pcm")
    }
    guard let node else { throw Failure(description: "no node of the microphone can be used") }

    guard sound_record(node.path.description, file, rate, seconds) == 0 else {
      let reason = String(cString: strerror(errno))
      throw Failure(description: "\(node.path): \(String(cString: sound_step())): \(reason)")
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}
