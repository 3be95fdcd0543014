/// The systems that this library provides; tests provide others.
public enum Systems: Sendable {
  /// The running Linux system.
  public static var running: any System { LinuxSystem() }
}
