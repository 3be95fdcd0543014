// swift-tools-version: 6.2
import PackageDescription

// The examples compile with both defaults; Examples/run tries both.
let isolation: [SwiftSetting] =
  Context.environment["DEFAULT_ISOLATION"] == "MainActor" ? [.defaultIsolation(MainActor.self)] : []

let package = Package(
  name: "studio",
  dependencies: [
    .package(name: "PermissionKit", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "studio",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "PermissionKit", package: "PermissionKit"),
        .product(name: "PermissionKitArguments", package: "PermissionKit"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)] + isolation)
  ],
  swiftLanguageModes: [.v6]
)
