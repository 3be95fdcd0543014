import ArgumentParser
import CVideo
import Glibc
import PermissionKit
import PermissionKitArguments

@main struct Snapshot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Takes a picture with a camera and writes a PPM file.")

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Option(help: "The camera; by default the first that can be used.", completion: .file())
  var device: String?

  @OptionGroup var permissions: PermissionOptions

  func run() throws {
    let camera = CameraAccessor(AccessContext(path: device.map { PathBytes($0) }))
    let reports = try permissions.gate(camera, purpose: "snapshot takes a picture with the camera")
    guard let node = reports[0].resources.first(where: { $0.status == .authorized }) else {
      throw Failure(description: "no node of the camera can be used")
    }

    var picture = video_picture()
    guard video_capture(node.path.description, &picture) == 0 else {
      throw Failure(description: "\(node.path): \(String(cString: video_step())): \(reason(errno))")
    }
    defer { free(picture.rgb) }
    guard video_write(file, &picture) == 0 else {
      throw Failure(description: "\(file): \(reason(errno))")
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

nonisolated func reason(_ errno: Int32) -> String { String(cString: strerror(errno)) }
