import ArgumentParser
import PermissionKit
import PermissionKitArguments

/// Looks whether everything is there for a recording with picture and sound, and asks for what is missing.
@main struct Studio: ParsableCommand {
  @Flag(help: "Say what is looked at.") var verbose = false
  @OptionGroup var permissions: PermissionOptions

  func run() throws {
    let isTold = verbose
    var batch = AccessBatch(.concurrent)
    batch.add("the camera") { CameraAccessor() }
    batch.add("the microphone") { MicrophoneAccessor() }
    batch.add("your pictures") { Pictures() }
    let found = try batch.check { progress in
      if isTold, let status = progress.status { print("\(progress): \(status.rawValue)") }
    }
    print("\(found.granted) of \(found.count) can be used")
    if !found.isGranted {
      // Asks at the terminal, or says why not and ends with status 77.
      try permissions.gate(
        CameraAccessor(), MicrophoneAccessor(), Pictures(), purpose: "studio records you")
    }
    print("ready")
  }
}

/// Pictures must be written, so a folder that can only be read is not enough.
///
/// Accessors belong to no actor: with the default isolation MainActor a subclass is `nonisolated`.
nonisolated final class Pictures: PhotoLibraryAccessor {
  init() {
    super.init()
    acceptsLimited = false
  }

  override func didReceiveAccess() { print("thank you for the pictures") }
  override func didRejectAccess() {
    print("no pictures: \(latestReport?.mainReason?.message ?? "")")
  }
}
