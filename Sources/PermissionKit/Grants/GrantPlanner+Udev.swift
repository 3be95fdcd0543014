extension GrantPlanner {
  /// Returns a plan of ACL entries and of a udev rule that repeats them; nil if no change helps.
  ///
  /// - Parameter strategy: The name of the strategy.
  /// - Returns: The plan; the rule is its last step.
  /// - Throws: If a resource is not a device that udev sets up, or as `plan(strategy:)` does.
  func udevPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard var plan = try plan(strategy: strategy) else { return nil }
    // udev does not search PATH, so the rule needs the full path.
    let setfacl = system.program("setfacl")
    var lines: [String] = []
    var entries: [InodeGrant] = []
    var warnings: [String] = []
    for step in plan.steps {
      guard case .inode(let grant) = step.change else { continue }
      let name = grant.path.lastComponent.description
      let isDevice = grant.identity.type == 0o020000
      guard isDevice, let family = step.family, family.mayHave(grant.identity.device),
        grant.attribute == .accessACL,
        name.isPlainName
      else {
        throw refusal(
          "\(grant.path) is not a device that udev sets up", path: grant.path,
          advice: "choose the strategy acl")
      }
      entries.append(grant)
      let match = UdevMatch(
        grant.identity.device, named: name, subsystem: family.subsystem, system)
      if let warning = match.identity.warning, !warnings.contains(warning) {
        warnings.append(warning)
      }
      let options = grant.arguments.dropLast().map(\.description).joined(separator: " ")
      lines.append(
        "\(match.text), ACTION!=\"remove\", RUN+=\"\(setfacl) \(options.dropFirst("setfacl ".count)) $env{DEVNAME}\""
      )
    }
    let head =
      "# Made by permcheck for uid \(request.uid): permcheck revoke \(request.accessor) removes it."
    let path = UdevRuleGrant.folder.appending(
      "99-permcheck-\(request.uid)-\(request.accessor).rules")
    let rule = UdevRuleGrant(
      path: path, contents: ([head] + lines).joined(separator: "\n") + "\n", entries: entries)
    plan.steps.append(
      GrantPlan.Step(.udevRule(rule), place: path.description, needsRoot: !own.isRoot))
    plan.warnings += warnings
    return plan
  }
}

extension UdevMatch.Identity {
  /// What else the rule may be for, for people; nil if it is for one device alone.
  fileprivate var warning: String? {
    switch self {
    case .device: nil
    case .port(let port):
      "the device has no serial number of its own, so the rule is for such a device at USB port \(port)"
    case .name:
      "the rule matches nodes by name, so a different device that gets this name later is included"
    }
  }
}
