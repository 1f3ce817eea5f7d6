// swift-tools-version: 6.3

import PackageDescription

let package = Package(
  name: "Inventory",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "dlstore", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "inventory",
      dependencies: [
        "InventoryModels",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "ObjectStoreModel", package: "dlstore"),
      ]
    ),
    .target(
      name: "InventoryModels",
      dependencies: [.product(name: "ObjectStoreModel", package: "dlstore")]
    ),
    .executableTarget(
      name: "inventory-schema",
      dependencies: [
        "InventoryModels",
        .product(name: "MigrationTesting", package: "dlstore"),
      ]
    ),
    // The code of the articles in ObjectStore's documentation, which is compiled and run here.
    .executableTarget(
      name: "articles",
      dependencies: [
        .product(name: "MigrationTesting", package: "dlstore"),
        .product(name: "ObjectStoreModel", package: "dlstore"),
      ],
      path: "Articles"
    ),
  ]
)

for target in package.targets {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
