// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

/// The dependencies of DownloadAsyncHTTPClient; built only with the trait AsyncHTTPClient.
let asyncHTTPClient: [Target.Dependency] = [
  ("AsyncHTTPClient", "async-http-client"), ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"),
  ("NIOHPACK", "swift-nio-http2"), ("NIOHTTP2", "swift-nio-http2"), ("NIOPosix", "swift-nio"),
  ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["AsyncHTTPClient"])) }

/// The dependencies of DownloadServer; built only with the trait Server.
let server: [Target.Dependency] = [
  ("HTTPTypes", "swift-http-types"), ("Hummingbird", "hummingbird"),
  ("HummingbirdCore", "hummingbird"), ("HummingbirdTLS", "hummingbird"), ("NIOCore", "swift-nio"),
  ("NIOHTTP1", "swift-nio"), ("NIOPosix", "swift-nio"), ("NIOSSL", "swift-nio-ssl"),
  ("ServiceLifecycle", "swift-service-lifecycle"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["Server"])) }

/// The dependency of DownloadMetrics; built only with the trait Metrics.
let metrics: [Target.Dependency] = [
  .product(
    name: "CoreMetrics",
    package: "swift-metrics",
    condition: .when(traits: ["Metrics"])
  )
]

let package = Package(
  name: "dlstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "ObjectStore", targets: ["ObjectStore"]),
    .library(name: "ObjectStoreModel", targets: ["ObjectStoreModel"]),
    .library(name: "ResumeData", targets: ["ResumeData"]),
    .library(name: "MigrationTesting", targets: ["MigrationTesting"]),
    .library(name: "Downloads", targets: ["Downloads"]),
    .library(name: "DownloadStore", targets: ["DownloadStore"]),
    .library(name: "DownloadMetalink", targets: ["DownloadMetalink"]),
    .library(name: "DownloadSync", targets: ["DownloadSync"]),
    .library(name: "DownloadSimulation", targets: ["DownloadSimulation"]),
    .library(name: "DownloadURLSession", targets: ["DownloadURLSession"]),
    .library(name: "DownloadAsyncHTTPClient", targets: ["DownloadAsyncHTTPClient"]),
    .library(name: "DownloadMetrics", targets: ["DownloadMetrics"]),
    .library(name: "DownloadServer", targets: ["DownloadServer"]),
    .executable(name: "dlstore", targets: ["dlstore"]),
    .executable(name: "objectstore", targets: ["objectstore"]),
  ],
  traits: [
    .trait(
      name: "AsyncHTTPClient",
      description: "Enables DownloadAsyncHTTPClient and builds its dependencies."
    ),
    .trait(
      name: "Server",
      description: "Enables DownloadServer and builds its dependencies."
    ),
    .trait(
      name: "Metrics",
      description: "Enables DownloadMetrics, which records to swift-metrics, and builds that."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", "3.0.0"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    // Used only with the trait AsyncHTTPClient.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    // Used only with the trait Server.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    // Used only with the trait Metrics.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
  ],
  targets: [
    // The libraries and the tool, in the order of the architecture: a target imports only targets
    // above it.
    .systemLibrary(
      name: "CLMDB",
      pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
    ),
    // The C library of the platform, with calls that take no pointers, and the lock of the standard
    // library.
    .target(name: "SystemInterface"),
    .target(name: "LMDB", dependencies: ["CLMDB", "SystemInterface"]),
    .target(
      name: "ObjectStoreCore",
      dependencies: ["LMDB", "SystemInterface", .product(name: "Logging", package: "swift-log")]
    ),
    .target(
      name: "ObjectStoreMaintenance",
      dependencies: ["LMDB", "ObjectStoreCore", "SystemInterface"]
    ),
    .target(
      name: "ObjectStoreMigration",
      dependencies: [
        "LMDB", "ObjectStoreCore", "ObjectStoreMaintenance", "SystemInterface",
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    // Re-exports the three, which programs import as one.
    .target(
      name: "ObjectStore",
      dependencies: ["ObjectStoreCore", "ObjectStoreMaintenance", "ObjectStoreMigration"]
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
      name: "MigrationTesting",
      dependencies: ["ObjectStore", .product(name: "Crypto", package: "swift-crypto")]
    ),
    .target(
      name: "Migrations",
      path: "Migrations",
      exclude: ["README.md", "Schemas", "schema.lock.json"]
    ),
    .target(name: "ResumeData"),
    .target(
      name: "DownloadStore",
      dependencies: [
        "ObjectStore", "Migrations", "SystemInterface",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: [
        "Records/DownloadRecord.model", "Records/EngineSettings.model",
        "Records/PieceDigests.model",
        "Records/RequestHeaders.model", "Records/Root.model",
      ]
    ),
    // Separate, because it links Foundation's XML parser and with it libxml2 (decision 0048).
    .target(name: "DownloadMetalink", dependencies: ["DownloadStore"]),
    .target(
      name: "DownloadSync",
      dependencies: [
        "DownloadStore", "ObjectStore", "ResumeData", "SystemInterface",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
      ]
    ),
    .target(
      name: "DownloadSimulation",
      dependencies: ["DownloadStore", "DownloadSync", "ResumeData", "SystemInterface"]
    ),
    .target(
      name: "DownloadURLSession",
      dependencies: ["DownloadStore", "DownloadSync", "ResumeData", "SystemInterface"]
    ),
    // Re-exports the store, the engine and this transport, which programs import as one.
    .target(
      name: "Downloads",
      dependencies: ["DownloadStore", "DownloadSync", "DownloadURLSession", "ObjectStore"]
    ),
    .target(
      name: "DownloadAsyncHTTPClient",
      dependencies: ["DownloadStore", "DownloadSync", "SystemInterface"] + asyncHTTPClient
    ),
    // What programs write for people and shells, without the parser of command lines: messages, exit
    // codes, amounts, times, safe text.
    .target(name: "ProgramOutput", dependencies: ["ObjectStore", "SystemInterface"]),
    // What describes downloads as JSON and in words, and lists and filters them.
    .target(
      name: "DownloadReports",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "ProgramOutput", "ResumeData",
      ]
    ),
    // The numbers of a store that monitoring reads, and what records them to swift-metrics.
    .target(
      name: "DownloadMetrics",
      dependencies: [
        "DownloadReports", "DownloadStore", "DownloadSync", "ObjectStore", "ProgramOutput",
      ] + metrics
    ),
    // The page, the HTTP API, aria2's JSON-RPC and the metrics of a store.
    .target(
      name: "DownloadServer",
      dependencies: [
        "DownloadMetalink", "DownloadMetrics", "DownloadReports", "DownloadStore", "DownloadSync",
        "ObjectStore", "ProgramOutput", "ResumeData", "SystemInterface",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
      ] + server,
      resources: [
        .embedInCode("Page/icon.svg"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
      ]
    ),
    // What the two command-line tools share: tables, manual pages, objects without their Swift types.
    .target(
      name: "CommandLineSupport",
      dependencies: [
        "ObjectStore", "ProgramOutput", "SystemInterface",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .target(
      name: "ObjectStoreCommands",
      dependencies: [
        "CommandLineSupport", "ObjectStore", "SystemInterface",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(name: "objectstore", dependencies: ["ObjectStoreCommands"]),
    .target(
      name: "DownloadCommands",
      dependencies: [
        "CommandLineSupport", "DownloadAsyncHTTPClient", "DownloadMetalink", "DownloadReports",
        "DownloadServer", "DownloadStore", "DownloadSync", "DownloadURLSession", "ObjectStore",
        "ResumeData", "SystemInterface",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .executableTarget(name: "dlstore", dependencies: ["DownloadCommands"]),
    // The binding: transactions, map growth, page checks, damaged files, several processes.
    .testTarget(
      name: "LMDBTests",
      dependencies: ["CLMDB", "LMDB", "SystemInterface", "TestSupport"]
    ),
    // The store: coding, indexes, references, writes, history, observation, maintenance, damage.
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "LMDB", "ObjectStore", "ObjectStoreCore", "ObjectStoreMaintenance", "ObjectStoreMigration",
        "SystemInterface", "TestSupport", .product(name: "Logging", package: "swift-log"),
      ]
    ),
    // Queries: random conditions, orders and joins, compared with arrays; the planner.
    .testTarget(
      name: "ObjectStoreQueryTests",
      dependencies: ["ObjectStore", "ObjectStoreCore", "TestSupport"]
    ),
    .executableTarget(
      name: "Quickstart",
      dependencies: ["Downloads"],
      path: "Examples/Quickstart"
    ),
    .executableTarget(
      name: "pull",
      dependencies: ["Downloads", .product(name: "Crypto", package: "swift-crypto")],
      path: "Examples/Pull",
      exclude: ["check.py"]
    ),
    .executableTarget(
      name: "snapshot",
      dependencies: ["Downloads"],
      path: "Examples/Snapshot",
      exclude: ["check.py"]
    ),
    .target(
      name: "TestSupport",
      dependencies: ["SystemInterface"],
      path: "Tests/Support/TestSupport"
    ),
    // Separate from TestSupport, which executables link too: only tests link the testing library.
    .target(name: "TestTraits", path: "Tests/Support/TestTraits"),
    // Resume data: decoding, repair, creation and the property lists inside.
    .testTarget(
      name: "ResumeDataTests",
      dependencies: [
        "ResumeData", "TestSupport", "TestTraits",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Fixtures"]
    ),
    // The events of the state machine, as tests apply them to records.
    .target(
      name: "RecordTestSupport",
      dependencies: ["DownloadStore"],
      path: "Tests/Support/RecordTestSupport"
    ),
    .target(
      name: "FaultServer",
      dependencies: ["SystemInterface"],
      path: "Tests/Support/FaultServer"
    ),
    .executableTarget(
      name: "fault-server",
      dependencies: ["FaultServer", "SystemInterface"],
      path: "Tests/Support/fault-server"
    ),
    // The contract of every transport: bodies, failures, redirects, back-pressure, cancellation; the
    // behaviour of URLSession and AsyncHTTPClient; and the server that injects faults.
    .testTarget(
      name: "TransportTests",
      dependencies: [
        "DownloadAsyncHTTPClient", "DownloadStore", "DownloadSync", "DownloadURLSession",
        "EngineTestSupport", "FaultServer", "SystemInterface", "TestSupport", "TestTraits",
      ] + asyncHTTPClient
    ),
    // Records, their transitions and commands, file names, identities, groups and progress.
    .testTarget(
      name: "DownloadStoreTests",
      dependencies: [
        "DownloadMetalink", "DownloadStore", "ObjectStore", "RecordTestSupport", "SystemInterface",
        "TestSupport", "TestTraits",
      ],
      exclude: ["Arithmetic.txt"]
    ),
    // The parts of the engine: reconciliation, scheduling, retries, responses, partial files.
    .testTarget(
      name: "DownloadSyncTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "ObjectStoreCore", "RecordTestSupport",
        "ResumeData", "SystemInterface", "TestSupport", "TestTraits",
      ]
    ),
    // What is stored: the files of a schema and the rules of its changes, the checks of migrations,
    // the schema of the records and its releases, and an independent reader in Python.
    .testTarget(
      name: "StoredFormatTests",
      dependencies: [
        "DownloadStore", "LMDB", "MigrationTesting", "Migrations", "ObjectStore",
        "ObjectStoreMaintenance", "TestSupport",
      ],
      exclude: [
        "LMDBVersions/lmdb-0.9.mdb", "LMDBVersions/lmdb-1.0.mdb", "SecondReader/read_store.py",
      ]
    ),
    // Checks and records the schema of the records: make schema.
    .executableTarget(
      name: "download-schema",
      dependencies: ["DownloadStore", "MigrationTesting", "Migrations"],
      path: "Tests/Support/download-schema"
    ),
    .target(
      name: "CommandTestSupport",
      dependencies: [
        "CommandLineSupport", "FaultServer", "ObjectStore", "SystemInterface", "TestSupport",
      ],
      path: "Tests/Support/CommandTestSupport"
    ),
    // The tool of ObjectStore: its commands on real stores, imports, migrations, hostile input.
    .testTarget(
      name: "ObjectStoreCommandsTests",
      dependencies: [
        "CommandLineSupport", "CommandTestSupport", "ObjectStore", "ObjectStoreCommands",
        "SystemInterface", "TestSupport", "objectstore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    // The command-line tool: output, exit codes, supervision, several processes.
    .testTarget(
      name: "DownloadCommandsTests",
      dependencies: [
        "CommandLineSupport", "CommandTestSupport", "DownloadCommands", "DownloadMetalink",
        "DownloadReports", "DownloadStore", "DownloadSync", "FaultServer", "LMDB",
        "ObjectStore", "ObjectStoreCore", "ObjectStoreMaintenance", "ResumeData", "Fuzzing",
        "SystemInterface", "TestSupport", "TestTraits", "DownloadURLSession", "dlstore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    // The server: the rules of access, the feed of changes, the pages, aria2's JSON-RPC, the metrics, and a
    // real server over real sockets.
    .testTarget(
      name: "DownloadServerTests",
      dependencies: [
        "DownloadMetrics", "DownloadReports", "DownloadServer", "DownloadStore", "DownloadSync",
        "ObjectStore", "RecordTestSupport", "SystemInterface", "TestSupport", "TestTraits",
        .product(name: "Logging", package: "swift-log"),
      ] + server + metrics
    ),
    // The built tool, killed at any moment, with damaged files, on full disks, and after crashes; and
    // power cuts, replayed from a recording of its system calls.
    .testTarget(
      name: "KillTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "ObjectStore", "SystemInterface",
        "TestSupport", "TestTraits", "dlstore",
      ],
      exclude: ["PowerCuts/Recorder"]
    ),
    // The engine with manual or real transports, and a server with TLS whose protocol is a script.
    .target(
      name: "EngineTestSupport",
      dependencies: [
        "DownloadAsyncHTTPClient", "DownloadStore", "DownloadSync", "DownloadURLSession",
        "FaultServer", "ObjectStore", "SystemInterface", "TestSupport",
      ] + asyncHTTPClient,
      path: "Tests/Support/EngineTestSupport"
    ),
    // The engine with a real store, real files and a real server.
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "DownloadSimulation", "SystemInterface", "TestSupport", "TestTraits",
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    // The documented behaviour of earlier download managers (docs/predecessors.md).
    .testTarget(
      name: "PredecessorTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "DownloadSimulation", "SystemInterface", "TestSupport", "TestTraits",
        "DownloadURLSession",
      ]
    ),
    .target(
      name: "Simulation",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "DownloadSimulation", "SystemInterface",
        "TestSupport",
      ],
      path: "Tests/Support/Simulation"
    ),
    .executableTarget(
      name: "simulate",
      dependencies: ["Simulation", "SystemInterface"],
      path: "Tests/Support/simulate"
    ),
    // The hot operations, whose instructions Benchmarks/instructions.py counts.
    .executableTarget(
      name: "instruction-count",
      dependencies: ["DownloadStore", "DownloadSync", "LMDB", "ObjectStore", "SystemInterface"],
      path: "Tests/Support/instruction-count"
    ),
    // All fuzzers, and what runs them.
    .target(
      name: "Fuzzing",
      dependencies: [
        "CommandLineSupport", "DownloadAsyncHTTPClient", "DownloadCommands", "DownloadReports",
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "Simulation",
        "SystemInterface", "TestSupport",
      ],
      path: "Tests/Support/Fuzzing"
    ),
    .executableTarget(name: "fuzz", dependencies: ["Fuzzing"], path: "Tests/Support/fuzz"),
    // The engine under random simulated faults, each run determined by a seed; a short run of each
    // fuzzer, and a replay of its corpus.
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "DownloadSimulation", "DownloadStore", "DownloadSync", "Fuzzing", "Simulation",
        "SystemInterface", "TestSupport", "fuzz",
      ],
      exclude: ["Corpora"]
    ),
  ]
)

// ThreadSanitizer runs the tests of the libraries (`.ci/sanitize`): the others need not be compiled.
if Context.environment["DLSTORE_SANITIZER"] == "thread" {
  let others: Set = [
    "DownloadCommandsTests", "DownloadServerTests", "DownloadSyncTests", "FuzzTests", "KillTests",
    "ObjectStoreCommandsTests", "PredecessorTests", "ResumeDataTests", "StoredFormatTests",
  ]
  package.targets.removeAll { others.contains($0.name) }
}

for target in package.targets where target.type != .system {
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
