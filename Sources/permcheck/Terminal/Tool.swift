/// Name and version of this tool.
enum Tool {
  static let name = "permcheck"
  static let version = "0.1.0"
}
