// swift-tools-version: 6.2
import PackageDescription

// The examples compile with both defaults; Examples/run tries both.
let isolation: [SwiftSetting] =
  Context.environment["DEFAULT_ISOLATION"] == "MainActor" ? [.defaultIsolation(MainActor.self)] : []

let package = Package(
  name: "gallery",
  dependencies: [
    .package(name: "PermissionKit", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "gallery",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "PermissionKit", package: "PermissionKit"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)] + isolation)
  ],
  swiftLanguageModes: [.v6]
)
