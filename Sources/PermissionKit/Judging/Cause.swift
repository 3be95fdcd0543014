/// Something that can refuse access, make it unknown, or explain a refusal.
///
/// A cause is one file in `Causes`, one line in `Causes.all`, and one row of a test.
package protocol Cause: Sendable {
  /// Returns what the evidence shows of this cause; nil if it does not apply.
  func find(in evidence: Evidence) -> Finding?
}

/// The causes that decide about a resource.
package enum Causes {
  /// Every cause, in the order in which `Verdict` reads them: from the kernel's answer to what makes that
  /// answer meaningless.
  ///
  /// Documentation/causes.md is made of it.
  package static let all: [any Cause] = [
    // What the kernel answers, and what changes it.
    KernelAnswer(), ContainerStart(), DynamicUser(), Seat(), Udev(), StaleGroups(), MountOwner(),
    // What refuses beyond mode and ACL, and what changes that: a later one is surer of it.
    UnitPolicy(), UnitFilter(), Surroundings(), ModuleProfile(), UnmappedGroups(), ClosedMount(),
    LayerChange(), GivenMount(), UnitSetting(), LoginGroup(),
    // What is granted in part.
    LesserNeed(), AppendOnlyFolder(), Contents(), UnknownUmask(),
    // What may refuse, and cannot be asked.
    OtherProcess(), OwnConfinement(), LoginDevices(), ModulePolicy(), LateServer(),
    // What makes a granted access useless.
    Listener(), UsedCapability(), BusyDevice(), FullFileSystem(), LockedFolder(),
    // What is not the resource at all.
    OtherKind(), Cover(),
  ]
}
