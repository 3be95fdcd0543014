// swift-tools-version: 6.2
import PackageDescription

// A stranger's package with both traits. The gate runs it: swift test --package-path Tests/Bridges
let package = Package(
  name: "Bridges",
  dependencies: [
    .package(name: "PermissionKit", path: "../..", traits: ["SwiftLog", "SwiftMetrics"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .testTarget(
      name: "BridgesTests",
      dependencies: [
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "PermissionKit", package: "PermissionKit"),
        .product(name: "PermissionKitLogging", package: "PermissionKit"),
        .product(name: "PermissionKitTesting", package: "PermissionKit"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
