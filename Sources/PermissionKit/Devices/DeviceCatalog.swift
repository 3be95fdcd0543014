/// Finds the devices that can capture, below a root, without opening more than is allowed.
package struct DeviceCatalog: Sendable {
  /// One device: the nodes that are needed together, or why there are none.
  package struct Device: Hashable, Sendable {
    /// The name of its capture node: `video0`, `pcmC0D0c`.
    package var name: String
    /// For people: `Integrated Camera`.
    package var label: String
    /// The nodes that must all be usable; the first is the capture node.
    package var nodes: [PathBytes]
    /// Whether the capture node is there, as far as its folder can be listed.
    package var hasNode: Bool
    /// How it is known that it captures.
    package var evidence: String
  }

  /// What was found.
  package struct Findings: Hashable, Sendable {
    /// Devices that capture, in order of their numbers.
    package var devices: [Device] = []
    /// Nodes of the same family that do not, and how that is known.
    package var others: [String] = []
    /// Folders that could not be read, so that devices may be missing.
    package var unreadable: [(PathBytes, Errno)] = []

    /// Compares what was found, and which folders failed, but not by which errno.
    package static func == (left: Findings, right: Findings) -> Bool {
      left.devices == right.devices && left.others == right.others
        && left.unreadable.map(\.0) == right.unreadable.map(\.0)
    }

    /// Hashes the devices alone.
    package func hash(into hasher: inout Hasher) { hasher.combine(devices) }
  }

  let system: any System
  let root: PathBytes
  let mayOpen: Bool

  /// Makes a catalogue; nothing is looked at yet.
  ///
  /// - Parameters:
  ///   - system: What to look at.
  ///   - root: Where /dev, /sys, /proc and /run are looked for.
  ///   - mayOpen: Video nodes may be opened to ask their driver (VIDIOC_QUERYCAP).
  package init(_ system: any System, root: PathBytes = "/", mayOpen: Bool) {
    self.system = system
    self.root = root
    self.mayOpen = mayOpen
  }

  /// Names in a folder, none when it is missing; other failures are noted.
  func names(_ folder: String, _ findings: inout Findings) -> [String] {
    let path = root.appending(folder)
    do throws(Errno) {
      return try system.names(in: path).map(\.description)
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

  /// The unsigned numbers in a device's name, for ordering: `pcmC1D10c` gives 1, 10.
  static func numbers(_ name: String) -> [Int] {
    name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
  }

  static func inOrder(_ names: some Sequence<String>) -> [String] {
    Set(names).map { ($0, numbers($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }
}
