@_spi(SystemCalls) package import PermissionKit

extension DeviceCatalog {
  /// The devices of a family that has `paths`, or of a class of sysfs.
  package struct Nodes: Sendable {
    /// A device node.
    package struct Node: Hashable, Sendable {
      /// The path of the node, including the root.
      package var path: PathBytes
      /// The type of the node; nil if there is no node.
      package var kind: FileKind?
    }

    /// The nodes of the devices, in the order of their numbers.
    package var nodes: [Node] = []
    /// The devices that have no node, by their names in sysfs.
    package var withoutNode: [PathBytes] = []
    /// The nodes with a matching name that are other devices, with the evidence.
    package var others: [String] = []
    /// The nodes for which this is unknown, with the evidence.
    package var unknown: [(path: PathBytes, evidence: String)] = []
  }

  /// A property of udev's data base: `ID_INPUT_JOYSTICK`, or `ID_INPUT_JOYSTICK=1`.
  package struct Property: Hashable, Sendable {
    /// The name.
    package var name: String
    /// The value; nil for any.
    package var value: String?

    /// Parses a property; nil if the text has no name.
    package init?(_ text: String) {
      let parts = text.parts(by: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else { return nil }
      self.name = String(name)
      value = parts.count > 1 ? String(parts[1]) : nil
    }
  }

  /// Returns the devices whose nodes match the `paths` of a family.
  ///
  /// - Parameters:
  ///   - family: The kind of device.
  ///   - property: A property that udev gave such a device; nil if none is asked for.
  /// - Returns: The nodes that exist.
  package func nodes(of family: DeviceFamily, with property: Property? = nil) -> Nodes {
    var nodes = Nodes()
    var seen: Set<PathBytes> = []
    for pattern in family.paths {
      let globbed = system.glob(pattern, below: root)
      nodes.unknown += globbed.unreadable.map { ($0.path, "open: \($0.errno)") }
      if globbed.isCut { nodes.unknown.append((root.appending("dev"), "there are too many nodes")) }
      for path in Self.inOrder(globbed.paths) where seen.insert(path).inserted {
        add(path, family, property, &nodes)
      }
    }
    return nodes
  }

  /// Returns the devices that a class of sysfs lists, with nodes or without.
  ///
  /// - Parameters:
  ///   - name: The folder below /sys/class, or of a bus below /sys/bus.
  ///   - family: The kind of device, which narrows the numbers.
  ///   - property: A property that udev gave such a device; nil if none is asked for.
  /// - Returns: The devices; a node that is listed may be missing.
  package func nodes(
    ofClass name: String, _ family: DeviceFamily, with property: Property? = nil
  ) -> Nodes {
    var nodes = Nodes()
    for folder in ["sys/class/\(name)", "sys/bus/\(name)/devices"] {
      let folder = root.appending(folder)
      let names = system.look(at: folder) { () throws(Errno) in try system.names(in: folder) }
      if let unseen = names.unseen {
        nodes.unknown.append((folder, "\(unseen.call): \(unseen.errno)"))
      }
      guard let names = names.value else { continue }
      for name in Self.inOrder(names) {
        let lines = system.look(at: folder.appending(name).appending("uevent"), limit: 1 << 16)
        if let node = lines.value.flatMap(Self.nodeName) {
          add(root.appending("dev").appending(node), family, property, &nodes, isListed: true)
        } else if let unseen = lines.unseen {
          nodes.unknown.append((unseen.path, "\(unseen.call): \(unseen.errno)"))
        } else {
          nodes.withoutNode.append(name)
        }
      }
      break
    }
    return nodes
  }

  /// Adds a node to the list that it belongs to.
  private func add(
    _ path: PathBytes, _ family: DeviceFamily, _ property: Property?, _ nodes: inout Nodes,
    isListed: Bool = false
  ) {
    guard system.availability(of: path) == .immediate else {
      return nodes.unknown.append((path, "not answering"))
    }
    let status: StatusFields
    do throws(Errno) {
      status = try system.status(of: path)
    } catch .ENOENT {
      if isListed { nodes.nodes.append(Nodes.Node(path: path, kind: nil)) }
      return
    } catch .ENOTDIR {
      return
    } catch {
      return nodes.unknown.append((path, "stat: \(error)"))
    }
    guard let kind = status.kind, kind.isDevice else {
      return nodes.others.append("\(path): not a device node")
    }
    let (isBlock, number) = (kind == .blockDevice, status.device)
    let belongs =
      isListed
      ? family.mayHave(number)
      : family.lists(path, number, isBlock: isBlock, below: root, system)
    guard let belongs else {
      return nodes.unknown.append((path, "/sys/dev does not show what it is"))
    }
    guard belongs else {
      return nodes.others.append("\(path): \(number.major):\(number.minor) is another device")
    }
    if let property {
      let data = root.appending("run/udev/data")
      let entry = "\(isBlock ? "b" : "c")\(number.major):\(number.minor)"
      let look = system.look(at: data.appending(entry))
      if let unseen = look.unseen {
        return nodes.unknown.append((unseen.path, "\(unseen.call): \(unseen.errno)"))
      }
      guard let lines = look.value else {
        return system.isThere(data)
          ? nodes.others.append("\(path): udev has no data on it")
          : nodes.unknown.append((path, "there is no database of udev"))
      }
      guard let value = Self.udevProperties(lines)[property.name],
        property.value == nil || property.value == value
      else { return nodes.others.append("\(path): udev has no \(property.name) for it") }
    }
    nodes.nodes.append(Nodes.Node(path: path, kind: kind))
  }

  static func inOrder(_ paths: [PathBytes]) -> [PathBytes] {
    paths.map { ($0, numbers($0.description)) }
      .sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }
}
