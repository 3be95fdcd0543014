/// The identifiers of block devices, which differ where another one has a copy of the contents: an older image, a
/// snapshot, a clone.
///
/// A copy has the UUID of the original and its inodes with their numbers, births and handles, and the number of a device
/// may be another one after the next boot.
final class BlockDevices {
  private let system: any System
  private var known: [DeviceNumber: String?] = [:]

  init(_ system: any System) { self.system = system }

  /// Returns an identifier, from sysfs(5); nil if the device has none, or is none.
  func identifier(of device: DeviceNumber) -> String? {
    if let known = known[device] { return known }
    let identifier = read(PathBytes("/sys/dev/block/\(device.major):\(device.minor)"))
    known[device] = identifier
    return identifier
  }

  private func read(_ folder: PathBytes) -> String? {
    func line(_ name: PathBytes) -> PathBytes? {
      (try? system.line(of: folder.appending(name))).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let uuid = line("dm/uuid") { return "dm \(uuid)" }
    if let file = line("loop/backing_file") {
      // In another mount namespace the path may lead nowhere.
      guard
        let image = try? system.open(
          file, [.path], through: [], within: PathAvailability.limit)
      else { return nil }
      defer { system.close(image) }
      guard let status = try? system.statx(image), let fields = try? system.fstatfs(image) else {
        return nil
      }
      return "loop \(fields.type) \(fields.id) \(status.inode) \(status.birth ?? 0)"
    }
    // A partition is below its disk.
    let names: [PathBytes] = ["wwid", "device/wwid", "../wwid", "../device/wwid"]
    guard let disk = names.lazy.compactMap(line).first else { return nil }
    return "disk \(disk) \(line("partition")?.description ?? "whole")"
  }
}
