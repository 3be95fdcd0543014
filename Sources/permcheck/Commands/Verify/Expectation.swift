import PermissionKit
import PermissionKitPlugins

/// One expectation of a file: who must have which access, or must not.
struct Expectation {
  /// What is judged.
  enum Target {
    case accessor(AccessorArgument)
    case path(PathBytes)
  }

  /// The name in the file, or what it expects; no two are the same.
  var name = ""
  /// Where it begins in the file.
  let place: TOMLValue.Place
  var target: Target
  /// The subjects, and where the file names each.
  var subjects: [(who: Who, place: TOMLValue.Place)] = []
  /// The permissions; nil for those that the accessor or the kind of file needs.
  var need: Permissions?
  /// The words of `is`, as they are written.
  var words: [String] = []
  /// The code that one of the reasons must have; nil if any will do.
  var reason: Reason.Code?
  /// Whose new files are meant, in the folder of the target; nil for what exists.
  var future: FutureChoice?
  /// What is done to the path, and the second argument of that; nil for opening it.
  var operation: (name: NamedOperation.Name, target: PathBytes?)?
  /// Whether everything in a folder must be so.
  var isRecursive = false
  /// How long to wait until it holds.
  var wait: TimeSpan?

  /// The statuses that `words` mean.
  var statuses: [AuthorizationStatus] {
    words.flatMap { word in
      // Where everything is meant, some of it is not enough.
      word == "granted" && isRecursive ? [.authorized] : Self.statuses[word] ?? []
    }
  }

  /// What a word of `is` means.
  ///
  /// Nobody can expect what cannot be told.
  static let statuses: [String: [AuthorizationStatus]] = [
    "granted": [.authorized, .limited], "refused": [.denied, .restricted],
    "authorized": [.authorized], "limited": [.limited], "denied": [.denied],
    "restricted": [.restricted], "unavailable": [.unavailable],
  ]

  /// What is judged, as people name it.
  var what: String {
    let name =
      switch target {
      case .accessor(let argument):
        argument.path.map { "\(argument.name)=\($0)" } ?? argument.name
      case .path(let path): path.description
      }
    if let operation {
      return "\(operation.name.rawValue) \(name)\(operation.target.map { " to \($0)" } ?? "")"
    }
    if isRecursive { return "\(name) and everything in it" }
    return future.map { "\(name), what \($0.creator ?? "this process") makes there" } ?? name
  }

  /// What is expected, for people: `refused, for parent-search`.
  var wanted: String {
    words.joined(separator: " or ") + (reason.map { ", for \($0.rawValue)" } ?? "")
  }
}

/// A mistake in a file of expectations.
struct Mistake: Comparable {
  let place: TOMLValue.Place
  let message: String

  static func < (left: Mistake, right: Mistake) -> Bool {
    (left.place, left.message) < (right.place, right.message)
  }
}
