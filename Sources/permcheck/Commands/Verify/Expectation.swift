import PermissionKit
import PermissionKitPlugins

/// One expectation of a file: who must have which access, or must not.
struct Expectation {
  /// The accessor or path.
  enum Target {
    case accessor(AccessorArgument)
    case path(PathBytes)
  }

  /// The unique name: that of the file, or one made from the expectation.
  var name = ""
  /// The place in the file where it begins.
  let place: TOMLValue.Place
  var target: Target
  /// The subjects, each with its place in the file.
  var subjects: [(who: Who, place: TOMLValue.Place)] = []
  /// The permissions; nil for those that the accessor or the kind of file needs.
  var need: Permissions?
  /// The values of `is`, as they are written.
  var words: [String] = []
  /// The code that one of the reasons must have; nil for any.
  var reason: Reason.Code?
  /// The creator of the new files to judge, in the folder of the target; nil to judge existing
  /// files.
  var future: FutureChoice?
  /// The operation on the path, and its second argument; nil for opening it.
  var operation: (name: NamedOperation.Name, target: PathBytes?)?
  /// Whether the expectation includes everything in a folder.
  var isRecursive = false
  /// How long to wait until it holds.
  var wait: TimeSpan?

  /// The statuses that the values of `is` stand for.
  var statuses: [AuthorizationStatus] {
    words.flatMap { word in
      // Where everything is meant, some of it is not enough.
      word == "granted" && isRecursive ? [.authorized] : Self.statuses[word] ?? []
    }
  }

  /// The statuses that each value of `is` stands for.
  ///
  /// Unknown access cannot be expected.
  static let statuses: [String: [AuthorizationStatus]] = [
    "granted": [.authorized, .limited], "refused": [.denied, .restricted],
    "authorized": [.authorized], "limited": [.limited], "denied": [.denied],
    "restricted": [.restricted], "unavailable": [.unavailable],
  ]

  /// The accessor or path, for people.
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

  /// The expected answer, for people: `refused, for parent-search`.
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
