/// Finds the devices below a root that can capture, and opens no more than the caller allows.
package struct DeviceCatalog: Sendable {
  /// One device: the nodes that are needed together.
  package struct Device: Hashable, Sendable {
    /// The name of the capture node: `video0`, `pcmC0D0c`.
    package var name: String
    /// The name for people: `Integrated Camera`.
    package var label: String
    /// The nodes that must all be usable; the first is the capture node.
    package var nodes: [PathBytes]
    /// Whether the capture node exists; false only if its folder was listed and does not contain
    /// it.
    package var hasNode: Bool
    /// The evidence that the device captures.
    package var evidence: String
  }

  /// The devices that were found.
  package struct Findings: Hashable, Sendable {
    /// The devices that capture, in order of their numbers.
    package var devices: [Device] = []
    /// The nodes of the same kind that do not capture, each with the evidence.
    package var others: [String] = []
    /// The folders that could not be read, so that devices may be missing.
    package var unreadable: [(PathBytes, Errno)] = []

    /// Compares the devices and the unreadable folders, but not the errnos of the folders.
    package static func == (left: Findings, right: Findings) -> Bool {
      left.devices == right.devices && left.others == right.others
        && left.unreadable.map(\.0) == right.unreadable.map(\.0)
    }

    /// Hashes only the devices.
    package func hash(into hasher: inout Hasher) { hasher.combine(devices) }
  }

  /// The system to read.
  package let system: any System
  /// The folder that contains /dev, /sys, /proc and /run.
  package let root: PathBytes
  let mayOpen: Bool

  /// Creates a catalogue, without reading anything yet.
  ///
  /// - Parameters:
  ///   - system: The system to read.
  ///   - root: The folder that contains /dev, /sys, /proc and /run.
  ///   - mayOpen: Whether video nodes may be opened to ask their driver (VIDIOC_QUERYCAP).
  package init(_ system: any System, root: PathBytes = "/", mayOpen: Bool) {
    self.system = system
    self.root = root
    self.mayOpen = mayOpen
  }

  /// Returns the names in a folder that a condition selects; empty if the folder is missing; records any
  /// other failure.
  func names(
    _ folder: String, _ findings: inout Findings,
    where isWanted: (PathBytes) -> Bool = { _ in true }
  ) -> [String] {
    let path = root.appending(folder)
    do throws(Errno) {
      return try system.names(in: path, where: isWanted).map(\.description)
    } catch .ENOENT {
    } catch .ENOTDIR {
    } catch {
      findings.unreadable.append((path, error))
    }
    return []
  }

  func line(_ path: String) -> String? {
    guard let line = try? system.line(of: root.appending(path)), !line.isEmpty else { return nil }
    return line.description
  }

  /// Returns the unsigned numbers in a device's name, for sorting: `pcmC1D10c` gives 1, 10.
  package static func numbers(_ name: String) -> [Int] {
    name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
  }

  /// Returns the names in the order of the numbers in them.
  package static func inOrder(_ names: some Sequence<String>) -> [String] {
    Set(names).map { ($0, numbers($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }
}
