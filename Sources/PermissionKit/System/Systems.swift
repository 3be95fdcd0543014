/// The system that this library brings; tests bring others.
public enum Systems: Sendable {
  /// The running Linux.
  public static var running: any System { LinuxSystem() }
}
