// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

/// What the second transport is made of; not built without its trait.
let asyncHTTPClient: [Target.Dependency] = [
  ("AsyncHTTPClient", "async-http-client"), ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"),
  ("NIOHTTP2", "swift-nio-http2"), ("NIOPosix", "swift-nio"), ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["AsyncHTTPClient"])) }

let package = Package(
  name: "dlstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "ObjectStore", targets: ["ObjectStore"]),
    .library(name: "ObjectStoreModel", targets: ["ObjectStoreModel"]),
    .library(name: "ResumeData", targets: ["ResumeData"]),
    .library(name: "DownloadStore", targets: ["DownloadStore"]),
    .library(name: "DownloadSync", targets: ["DownloadSync"]),
    .library(name: "SimulatedTransport", targets: ["SimulatedTransport"]),
    .library(name: "URLSessionTransport", targets: ["URLSessionTransport"]),
    .library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"]),
    .executable(name: "dlstore", targets: ["dlstore"]),
  ],
  traits: [
    .trait(
      name: "AsyncHTTPClient",
      description: "Builds AsyncHTTPClientTransport, for which nothing else is built otherwise."
    )
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    // What follows is used with the trait AsyncHTTPClient alone.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
  ],
  targets: [
    // What follows is in the order of the architecture: a target imports only targets above it.
    .systemLibrary(
      name: "CLMDB",
      pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
    ),
    .target(name: "LMDB", dependencies: ["CLMDB"]),
    .target(
      name: "ObjectStore",
      dependencies: ["LMDB", .product(name: "Logging", package: "swift-log")]
    ),
    .macro(
      name: "ObjectStoreMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ]
    ),
    .target(name: "ObjectStoreModel", dependencies: ["ObjectStore", "ObjectStoreMacros"]),
    .target(
      name: "Migrations",
      dependencies: ["ObjectStore"],
      path: "Migrations",
      exclude: ["README.md", "Schemas", "schema.lock.json"]
    ),
    .target(name: "ResumeData"),
    .target(
      name: "DownloadStore",
      dependencies: [
        "ObjectStore", "Migrations", .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: [
        "Records/DownloadRecord.model", "Records/RequestHeaders.model", "Records/Root.model",
      ]
    ),
    .target(
      name: "DownloadSync",
      dependencies: [
        "DownloadStore", "ObjectStore", "ResumeData",
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .target(
      name: "SimulatedTransport",
      dependencies: ["DownloadStore", "DownloadSync", "ResumeData"]
    ),
    .target(
      name: "URLSessionTransport",
      dependencies: ["DownloadStore", "DownloadSync", "ResumeData"]
    ),
    .target(
      name: "AsyncHTTPClientTransport",
      dependencies: ["DownloadStore", "DownloadSync"] + asyncHTTPClient
    ),
    .target(
      name: "DownloadCommands",
      dependencies: [
        "AsyncHTTPClientTransport", "DownloadStore", "DownloadSync", "ObjectStore", "ResumeData",
        "URLSessionTransport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(name: "dlstore", dependencies: ["DownloadCommands"]),
    .testTarget(name: "LMDBTests", dependencies: ["CLMDB", "LMDB", "TestSupport"]),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "ObjectStore", "LMDB", "TestSupport", .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .testTarget(name: "ObjectStoreQueryTests", dependencies: ["ObjectStore", "TestSupport"]),
    .executableTarget(
      name: "Quickstart",
      dependencies: ["DownloadStore", "DownloadSync", "URLSessionTransport"],
      path: "Examples/Quickstart"
    ),
    .target(name: "TestSupport", path: "Tests/Support/TestSupport"),
    // Apart from TestSupport, which executables link: only tests link the testing library.
    .target(name: "TestTraits", path: "Tests/Support/TestTraits"),
    .testTarget(
      name: "ResumeDataTests",
      dependencies: [
        "FuzzSupport", "ResumeData", "ResumeDataFuzzing", "TestSupport", "TestTraits",
        "resume-data-fuzz",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Corpus", "Fixtures"]
    ),
    .target(
      name: "FuzzSupport",
      dependencies: ["TestSupport"],
      path: "Tests/Support/FuzzSupport"
    ),
    .target(
      name: "ResumeDataFuzzing",
      dependencies: ["DownloadCommands", "FuzzSupport", "ResumeData", "TestSupport"],
      path: "Tests/Support/ResumeDataFuzzing"
    ),
    .executableTarget(
      name: "resume-data-fuzz",
      dependencies: ["FuzzSupport", "ResumeDataFuzzing"],
      path: "Tests/Support/resume-data-fuzz"
    ),
    .target(
      name: "StoreFuzzing",
      dependencies: ["FuzzSupport", "ObjectStore", "TestSupport"],
      path: "Tests/Support/StoreFuzzing"
    ),
    .executableTarget(
      name: "json-lines-fuzz",
      dependencies: ["FuzzSupport", "StoreFuzzing"],
      path: "Tests/Support/json-lines-fuzz"
    ),
    .executableTarget(
      name: "data-file-fuzz",
      dependencies: ["FuzzSupport", "StoreFuzzing"],
      path: "Tests/Support/data-file-fuzz"
    ),
    .testTarget(
      name: "StoreFuzzTests",
      dependencies: [
        "FuzzSupport", "StoreFuzzing", "TestSupport", "data-file-fuzz", "json-lines-fuzz",
      ],
      exclude: ["DataFileCorpus", "JSONLinesCorpus"]
    ),
    .target(name: "FaultServer", path: "Tests/Support/FaultServer"),
    .executableTarget(
      name: "fault-server",
      dependencies: ["FaultServer"],
      path: "Tests/Support/fault-server"
    ),
    .testTarget(name: "FaultServerTests", dependencies: ["FaultServer"]),
    .target(
      name: "TransportTesting",
      dependencies: [
        "AsyncHTTPClientTransport", "DownloadSync", "FaultServer", "URLSessionTransport",
      ],
      path: "Tests/Support/TransportTesting"
    ),
    .testTarget(
      name: "TransportTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "TestTraits", "TransportTesting",
      ]
    ),
    .testTarget(
      name: "URLSessionTransportTests",
      dependencies: [
        "DownloadSync", "FaultServer", "TestTraits", "TransportTesting", "URLSessionTransport",
      ]
    ),
    .testTarget(
      name: "AsyncHTTPClientTransportTests",
      dependencies: [
        "AsyncHTTPClientTransport", "DownloadSync", "FaultServer", "TransportTesting",
      ] + asyncHTTPClient
    ),
    .testTarget(
      name: "DownloadStoreTests",
      dependencies: ["DownloadStore", "ObjectStore", "TestSupport", "TestTraits"]
    ),
    .testTarget(
      name: "DownloadSyncTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "ResumeData", "TestSupport", "TestTraits",
      ]
    ),
    .testTarget(
      name: "MigrationsTests",
      dependencies: [
        "DownloadStore", "Migrations", "ObjectStore",
        "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["released.sha256"]
    ),
    .testTarget(
      name: "SecondReaderTests",
      dependencies: ["DownloadStore", "LMDB", "ObjectStore", "TestSupport"]
    ),
    .testTarget(
      name: "DownloadCommandsTests",
      dependencies: [
        "DownloadCommands", "DownloadStore", "DownloadSync", "FaultServer", "NginxServer",
        "ObjectStore", "ResumeData", "TestSupport", "TestTraits", "URLSessionTransport", "dlstore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .target(
      name: "NginxServer",
      dependencies: ["FaultServer"],
      path: "Tests/Support/NginxServer"
    ),
    .testTarget(
      name: "KillTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "ObjectStore", "TestSupport", "TestTraits",
        "dlstore",
      ]
    ),
    .target(name: "PowerCut", path: "Tests/Support/PowerCut"),
    .testTarget(
      name: "PowerCutTests",
      dependencies: [
        "DownloadStore", "FaultServer", "ObjectStore", "PowerCut", "TestSupport", "dlstore",
      ],
      exclude: ["Recorder"]
    ),
    .target(
      name: "EngineTestSupport",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "ObjectStore", "TestSupport",
        "TransportTesting",
      ],
      path: "Tests/Support/EngineTestSupport"
    ),
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "SimulatedTransport", "TestSupport", "TestTraits", "TransportTesting",
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .testTarget(
      name: "PredecessorTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "SimulatedTransport", "TestSupport", "TestTraits", "TransportTesting",
        "URLSessionTransport",
      ]
    ),
    .target(
      name: "Simulation",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "SimulatedTransport", "TestSupport",
      ],
      path: "Tests/Support/Simulation"
    ),
    .executableTarget(
      name: "simulate",
      dependencies: ["Simulation"],
      path: "Tests/Support/simulate"
    ),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["DownloadStore", "DownloadSync", "SimulatedTransport", "Simulation"]
    ),
    .target(
      name: "HTTPFuzzing",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "FuzzSupport", "ObjectStore", "Simulation",
        "TestSupport", "TransportTesting",
      ],
      path: "Tests/Support/HTTPFuzzing"
    ),
    .executableTarget(
      name: "http-response-fuzz",
      dependencies: ["FuzzSupport", "HTTPFuzzing"],
      path: "Tests/Support/http-response-fuzz"
    ),
    .executableTarget(
      name: "http-socket-fuzz",
      dependencies: ["FuzzSupport", "HTTPFuzzing"],
      path: "Tests/Support/http-socket-fuzz"
    ),
    .testTarget(
      name: "HTTPFuzzTests",
      dependencies: [
        "FuzzSupport", "HTTPFuzzing", "TestSupport", "http-response-fuzz", "http-socket-fuzz",
      ],
      exclude: ["Corpus"]
    ),
    .target(
      name: "MainActorModels",
      dependencies: ["ObjectStoreModel"],
      path: "Tests/Support/MainActorModels",
      swiftSettings: [.defaultIsolation(MainActor.self)]
    ),
    .testTarget(
      name: "ObjectStoreMacrosTests",
      dependencies: [
        "ObjectStore", "ObjectStoreMacros",
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
      ]
    ),
    .testTarget(
      name: "ObjectStoreModelTests",
      dependencies: ["MainActorModels", "ObjectStoreModel"]
    ),
  ]
)

// The record types may not compile while they wait to be expanded anew.
if Context.environment["DLSTORE_RECORD_MODELS"] == "1" {
  let needed: Set = ["CLMDB", "LMDB", "ObjectStore", "ObjectStoreMacros", "ObjectStoreMacrosTests"]
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}

// The second transport is tested in a build of its own: the other targets would only cost their
// building.
if Context.environment["DLSTORE_SECOND_TRANSPORT"] == "1" {
  let needed: Set = [
    "CLMDB", "LMDB", "ObjectStore", "Migrations", "DownloadStore", "DownloadSync", "ResumeData",
    "SimulatedTransport", "URLSessionTransport", "AsyncHTTPClientTransport", "DownloadCommands",
    "dlstore", "TestSupport", "TestTraits",
    "EngineTestSupport", "FaultServer", "NginxServer", "TransportTesting", "TransportTests",
    "EngineTests",
    "AsyncHTTPClientTransportTests", "DownloadCommandsTests",
  ]
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}

// The sanitizers run the libraries with their transport on URLSession, and not the command line:
// the other targets would only cost their building.
let sanitizer = Context.environment["DLSTORE_SANITIZER"]
if sanitizer != nil {
  let needed: Set = [
    "CLMDB", "LMDB", "ObjectStore", "ObjectStoreMacros", "ObjectStoreModel", "Migrations",
    "ResumeData", "DownloadStore", "DownloadSync", "SimulatedTransport", "URLSessionTransport",
    "AsyncHTTPClientTransport", "TestSupport", "TestTraits", "MainActorModels", "FaultServer",
    "TransportTesting", "EngineTestSupport",
    "LMDBTests", "ObjectStoreTests", "ObjectStoreQueryTests", "ObjectStoreModelTests",
    "DownloadStoreTests", "TransportTests", "URLSessionTransportTests", "EngineTests",
  ]
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}

// Files import `Synchronization`, and under the thread sanitizer use a lock of LMDB's in its place.
let memberImportVisibility: [SwiftSetting] =
  sanitizer == "thread" ? [] : [.enableUpcomingFeature("MemberImportVisibility")]

for target in package.targets where target.type != .system {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .swiftLanguageMode(.v6),
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("ImmutableWeakCaptures"),
      .enableUpcomingFeature("InferIsolatedConformances"),
      .enableUpcomingFeature("InternalImportsByDefault"),
    ] + memberImportVisibility + [
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      .strictMemorySafety(),
      .treatAllWarnings(as: .error),
    ]
}

if sanitizer == "thread" {
  // Those with a `SanitizedMutex.swift`.
  let locking: Set = [
    "DownloadSync", "SimulatedTransport", "URLSessionTransport", "FaultServer",
    "EngineTestSupport", "TransportTesting", "EngineTests", "TransportTests",
    "URLSessionTransportTests",
  ]
  for target in package.targets {
    if target.name == "LMDB" || locking.contains(target.name) {
      target.swiftSettings?.append(.define("THREAD_SANITIZER"))
    }
    if locking.contains(target.name) { target.dependencies.append("LMDB") }
  }
}
