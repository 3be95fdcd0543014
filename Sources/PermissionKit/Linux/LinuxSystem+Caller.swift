internal import CCap
internal import Glibc

extension LinuxSystem {
  /// Whether somebody started this program who has fewer rights than the program, as one that is set-user-ID.
  ///
  /// Such a program takes nothing from the environment, whatever ids it has by now. See AT_SECURE in
  /// getauxval(3), and secure_getenv(3).
  package static let hasForeignCaller = getauxval(UInt(AT_SECURE)) != 0
}
