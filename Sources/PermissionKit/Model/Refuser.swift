/// The one whose refusal a reason is about: who would have to change something.
public enum Refuser: String, Hashable, Sendable, CaseIterable, Codable {
  /// The mode, the ACL or an attribute of the file, or its owner.
  case file
  /// A folder on the path, or the one that has the name.
  case folder
  /// The mount that the file is on.
  case mount
  /// A sandbox for applications around the process.
  case sandbox
  /// A container around the process, or its user namespace.
  case container
  /// The unit that the process belongs to, by a setting.
  case service
  /// A security module, such as SELinux or AppArmor.
  case securityModule = "security-module"
  /// A filter of system calls.
  case seccomp
  /// Landlock, by which a program restricts itself.
  case landlock
  /// The device cgroup.
  case deviceCgroup = "device-cgroup"
  /// The driver of the device.
  case driver
  /// A server or daemon that decides for a file system or for a device.
  case server
  /// Another program: it uses the device, does not listen, or is the accessor itself.
  case program
  /// A setting of the kernel, see sysctl(8).
  case kernelSetting = "kernel-setting"
}

extension Reason {
  /// The one whose refusal this is; nil where nobody refuses: something is
  /// missing, impossible, or not known.
  public var whose: Refuser? { ownWhose ?? code.whose }
}
