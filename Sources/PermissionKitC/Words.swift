internal import CPermissionKit
internal import PermissionDocuments
internal import PermissionKit

extension AuthorizationStatus {
  /// The number of the status in the header.
  var number: pk_status {
    switch self {
    case .authorized: PK_AUTHORIZED
    case .limited: PK_LIMITED
    case .denied: PK_DENIED
    case .restricted: PK_RESTRICTED
    case .unavailable: PK_UNAVAILABLE
    case .notDetermined: PK_NOT_DETERMINED
    }
  }
}

extension Requestability {
  /// The number in the header.
  var number: pk_requestability {
    switch self {
    case .never: PK_NOT_REQUESTABLE
    case .now: PK_REQUESTABLE
    case .onlyByRoot: PK_REQUESTABLE_BY_ROOT
    }
  }
}

extension AudioRoute {
  /// Creates the route for a number in the header; nil for an unknown number.
  init?(number: UInt32) {
    switch number {
    case PK_THROUGH_USUAL.rawValue: self = .alsa
    case PK_THROUGH_SERVER.rawValue: self = .server
    case PK_THROUGH_ANY.rawValue: self = .any
    default: return nil
    }
  }
}

extension String {
  /// The text without blanks at its end.
  var withoutBlanksAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}

/// Texts that live as long as the library is loaded.
enum StaticText {
  static var empty: UnsafePointer<CChar> { unsafe start(of: "") }
  static var version: UnsafePointer<CChar> { unsafe start(of: Documents.version) }

  /// Returns the name of a status as in JSON.
  static func name(of status: pk_status) -> UnsafePointer<CChar> {
    switch status {
    case PK_AUTHORIZED: unsafe start(of: "authorized")
    case PK_LIMITED: unsafe start(of: "limited")
    case PK_DENIED: unsafe start(of: "denied")
    case PK_RESTRICTED: unsafe start(of: "restricted")
    case PK_UNAVAILABLE: unsafe start(of: "unavailable")
    case PK_NOT_DETERMINED: unsafe start(of: "notDetermined")
    default: unsafe start(of: "error")
    }
  }

  /// Returns the bytes of a literal, which has a NUL at its end.
  private static func start(of text: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
