// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

// A package of its own, because a test that links a macro doubles the build of all tests with it:
// decision 0028.
let package = Package(
  name: "MacroTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "dlstore", path: "../.."),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    // The sources of ObjectStoreMacros, by a link: a test cannot depend on another package's macro.
    .macro(
      name: "MacrosUnderTest",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ],
      path: "ObjectStoreMacros"
    ),
    // The expansion and the diagnostics of the macros, and the expanded record templates.
    .testTarget(
      name: "ObjectStoreMacrosTests",
      dependencies: [
        "MacrosUnderTest",
        .product(name: "ObjectStore", package: "dlstore"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
      ],
      path: "ObjectStoreMacrosTests"
    ),
    .target(
      name: "MainActorModels",
      dependencies: [.product(name: "ObjectStoreModel", package: "dlstore")],
      path: "MainActorModels",
      swiftSettings: [.defaultIsolation(MainActor.self)]
    ),
    .target(name: "OtherLibrary", path: "OtherLibrary"),
    // Models beside other types that are called like those of the store.
    .testTarget(
      name: "LookalikeTests",
      dependencies: ["OtherLibrary", .product(name: "ObjectStoreModel", package: "dlstore")],
      path: "LookalikeTests"
    ),
    // Models that are declared with the macros, stored and queried.
    .testTarget(
      name: "ObjectStoreModelTests",
      dependencies: [
        "MainActorModels", .product(name: "ObjectStoreModel", package: "dlstore"),
      ],
      path: "ObjectStoreModelTests"
    ),
  ]
)

for target in package.targets {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
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
