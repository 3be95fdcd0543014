public import Foundation
public import PermissionKit

/// For programs with Foundation: the texts of `localizedDescription` and of error dialogs.
extension PermissionError: LocalizedError {
  /// The error, the call and its errno, and the advice, in one line.
  public var errorDescription: String? { description }

  /// The error, in one line.
  public var failureReason: String? { message }

  /// The advice; nil if there is none.
  public var recoverySuggestion: String? { advice }
}
