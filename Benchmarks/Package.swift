// swift-tools-version: 6.3

import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "dlstore", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .target(
      name: "CLayouts",
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)],
      linkerSettings: [.linkedLibrary("lmdb")]
    ),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CLayouts",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ObjectStore", package: "dlstore"),
      ]
    ),
    .executableTarget(
      name: "small-files",
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "migrations",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ObjectStore", package: "dlstore"),
      ]
    ),
    .executableTarget(
      name: "engine-cost",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "DownloadStore", package: "dlstore"),
        .product(name: "DownloadSync", package: "dlstore"),
        .product(name: "ObjectStore", package: "dlstore"),
      ]
    ),
    .executableTarget(
      name: "command-latency",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "DownloadStore", package: "dlstore"),
        .product(name: "DownloadSync", package: "dlstore"),
        .product(name: "ObjectStore", package: "dlstore"),
      ]
    ),
  ]
)

for target in package.targets where !["CLayouts", "small-files"].contains(target.name) {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
