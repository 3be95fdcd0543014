// swift-tools-version: 6.2
import PackageDescription

/// The one list of settings that every Swift target of this package builds with.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .treatWarning("ExplicitSendable", as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Test code asks the kernel through C, where strict memory safety has nothing to say.
let safeSettings = settings + [.strictMemorySafety()]

let package = Package(
  name: "PermissionKit",
  products: [
    .library(name: "PermissionKit", targets: ["PermissionKit"]),
    .library(name: "PermissionKitArguments", targets: ["PermissionKitArguments"]),
    .library(name: "PermissionKitFoundation", targets: ["PermissionKitFoundation"]),
    .library(name: "PermissionKitLogging", targets: ["PermissionKitLogging"]),
    .library(name: "PermissionKitPlugins", targets: ["PermissionKitPlugins"]),
    .library(name: "PermissionKitTesting", targets: ["PermissionKitTesting"]),
    // libpermissionkit.so, for programs in other languages; Scripts/build-library links it.
    .library(name: "permissionkit", type: .dynamic, targets: ["PermissionKitC"]),
    .executable(name: "permcheck", targets: ["permcheck"]),
    .executable(name: "permcheck-helper", targets: ["permcheck-helper"]),
  ],
  traits: [
    .trait(
      name: "SwiftLog",
      description:
        "SwiftLogLogging in PermissionKitLogging: the analytics log in a Logger of swift-log."
    ),
    .trait(
      name: "SwiftMetrics",
      description: "SwiftMetricsLogging in PermissionKitLogging: checks counted in swift-metrics."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Without the traits nothing uses these two, and neither is fetched.
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CCap",
      providers: [.apt(["libcap-dev"]), .yum(["libcap-devel"])]
    ),
    .target(name: "JSONSyntax", swiftSettings: safeSettings),
    .target(
      name: "PermissionKit", dependencies: ["CCap", "JSONSyntax"], swiftSettings: safeSettings),
    .target(
      name: "PermissionDocuments", dependencies: ["JSONSyntax", "PermissionKit"],
      swiftSettings: safeSettings),
    .systemLibrary(name: "CPermissionKit"),
    .target(
      name: "PermissionKitC",
      dependencies: [
        "CPermissionKit", "PermissionDocuments", "PermissionKit", "PermissionKitPlugins",
      ],
      swiftSettings: safeSettings
    ),
    .target(
      name: "PermissionKitPlugins", dependencies: ["JSONSyntax", "PermissionKit"],
      swiftSettings: safeSettings),
    .target(
      name: "PermissionKitTesting",
      dependencies: ["PermissionKit"],
      swiftSettings: safeSettings
    ),
    .target(
      name: "PermissionKitLogging",
      dependencies: [
        "PermissionKit",
        .product(
          name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
        .product(
          name: "CoreMetrics", package: "swift-metrics",
          condition: .when(traits: ["SwiftMetrics"])),
      ],
      swiftSettings: safeSettings
    ),
    .target(
      name: "PermissionKitFoundation", dependencies: ["PermissionKit"],
      swiftSettings: safeSettings),
    // Nobody pays for this but who traces programs.
    // The files named .inc are made by Scripts/trace-object.
    .target(
      name: "CTrace",
      exclude: [
        "calls.inc", "calls.txt", "landlock.bpf.c", "landlock.inc", "refusals.bpf.c",
        "refusals.inc",
      ],
      linkerSettings: [.linkedLibrary("bpf")]),
    .target(
      name: "PermissionTrace", dependencies: ["CTrace", "PermissionKit"],
      swiftSettings: safeSettings),
    .target(
      name: "PermissionKitArguments",
      dependencies: [
        "PermissionKit", "PermissionKitFoundation", "PermissionKitLogging",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: safeSettings
    ),
    .executableTarget(
      name: "permcheck",
      dependencies: [
        "JSONSyntax", "PermissionDocuments", "PermissionKit", "PermissionKitLogging",
        "PermissionKitPlugins", "PermissionTrace", "ToolStart",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: safeSettings
    ),
    .target(name: "HelperStart"),
    .target(name: "ToolStart"),
    .executableTarget(
      name: "permcheck-helper",
      dependencies: ["HelperStart", "PermissionKit", "PermissionKitPlugins"],
      swiftSettings: safeSettings
    ),
    .executableTarget(name: "kernel-asker", path: "Tests/Support/KernelAsker"),
    .executableTarget(name: "crash-tracer", path: "Tests/Support/CrashTracer"),
    .executableTarget(name: "refused", path: "Tests/Support/Refused"),
    .executableTarget(
      name: "log-writer",
      dependencies: ["PermissionKit"],
      path: "Tests/Support/LogWriter",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "lease-player",
      dependencies: ["JSONSyntax", "PermissionKit", "PermissionKitTesting"],
      path: "Tests/Support/LeasePlayer",
      swiftSettings: settings
    ),
    .target(
      name: "TestSupport", dependencies: ["PermissionKit"], path: "Tests/Support/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "PermissionKitPluginsTests",
      dependencies: [
        "JSONSyntax", "PermissionKit", "PermissionKitPlugins", "PermissionKitTesting",
        "TestSupport", "permcheck",
      ],
      exclude: ["Reference"],
      swiftSettings: settings),
    .testTarget(
      name: "PermissionTraceTests",
      dependencies: ["PermissionKit", "PermissionTrace", "TestSupport", "refused"],
      swiftSettings: settings),
    .testTarget(
      name: "PermissionDocumentsTests",
      dependencies: [
        "JSONSyntax", "PermissionDocuments", "PermissionKit", "PermissionKitTesting", "TestSupport",
      ],
      exclude: ["Golden", "JSONSyntax/Reference"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PermissionKitTests",
      dependencies: [
        "PermissionKit", "PermissionKitPlugins", "PermissionKitTesting", "TestSupport",
      ],
      exclude: ["Judging/Precedence", "Machine/pipewire-0.3.65.bin"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PermissionKitLoggingTests",
      dependencies: ["PermissionKit", "PermissionKitLogging", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PermissionKitArgumentsTests",
      dependencies: [
        "PermissionKit", "PermissionKitArguments", "PermissionKitTesting", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "permcheckTests",
      dependencies: [
        "PermissionKit", "TestSupport", "permcheck", "crash-tracer",
        "kernel-asker", "lease-player", "log-writer",
      ],
      exclude: ["Completion", "Fuzz", "Golden", "Model", "Runner", "Schemas", "Storage"],
      swiftSettings: settings
    ),
    .target(
      name: "OracleCorpus",
      dependencies: ["PermissionKit"],
      path: "Tests/Support/OracleCorpus",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "oracle-judge",
      dependencies: ["OracleCorpus"],
      path: "Tests/Support/OracleJudge",
      swiftSettings: settings
    ),
    .target(name: "GrantJudge", path: "Tests/Support/GrantJudge"),
    .target(name: "CReplay", path: "Benchmarks/CReplay"),
    .executableTarget(
      name: "benchmarks",
      dependencies: ["PermissionKit", "OracleCorpus", "CReplay", "TestSupport"],
      path: "Benchmarks/benchmarks",
      swiftSettings: settings
    ),
    .testTarget(
      name: "KernelConformanceTests",
      dependencies: [
        "PermissionKit", "OracleCorpus", "TestSupport", "GrantJudge", "kernel-asker", "permcheck",
      ],
      exclude: ["Oracle"],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
