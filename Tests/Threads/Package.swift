// swift-tools-version: 6.2
import PackageDescription

// `run` builds this with the thread sanitizer.
let package = Package(
  name: "threads",
  dependencies: [.package(name: "PermissionKit", path: "../..")],
  targets: [
    .executableTarget(
      name: "gate-question",
      dependencies: [.product(name: "PermissionKit", package: "PermissionKit")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "gate-race", dependencies: [.product(name: "PermissionKit", package: "PermissionKit")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
