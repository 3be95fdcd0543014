// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "snapshot",
  dependencies: [
    .package(name: "PermissionKit", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(name: "CVideo"),
    .executableTarget(
      name: "snapshot",
      dependencies: [
        "CVideo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "PermissionKit", package: "PermissionKit"),
        .product(name: "PermissionKitArguments", package: "PermissionKit"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
