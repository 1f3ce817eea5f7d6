// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

/// The dependencies of DownloadAsyncHTTPClient; built only with the trait AsyncHTTPClient.
let asyncHTTPClient: [Target.Dependency] = [
  ("AsyncHTTPClient", "async-http-client"), ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"),
  ("NIOHPACK", "swift-nio-http2"), ("NIOHTTP2", "swift-nio-http2"), ("NIOPosix", "swift-nio"),
  ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["AsyncHTTPClient"])) }

let package = Package(
  name: "dlstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "ObjectStore", targets: ["ObjectStore"]),
    .library(name: "ObjectStoreModel", targets: ["ObjectStoreModel"]),
    .library(name: "ResumeData", targets: ["ResumeData"]),
    .library(name: "MigrationTesting", targets: ["MigrationTesting"]),
    .library(name: "DownloadStore", targets: ["DownloadStore"]),
    .library(name: "DownloadMetalink", targets: ["DownloadMetalink"]),
    .library(name: "DownloadSync", targets: ["DownloadSync"]),
    .library(name: "DownloadSimulation", targets: ["DownloadSimulation"]),
    .library(name: "DownloadURLSession", targets: ["DownloadURLSession"]),
    .library(name: "DownloadAsyncHTTPClient", targets: ["DownloadAsyncHTTPClient"]),
    .executable(name: "dlstore", targets: ["dlstore"]),
    .executable(name: "objectstore", targets: ["objectstore"]),
  ],
  traits: [
    .trait(
      name: "AsyncHTTPClient",
      description: "Enables DownloadAsyncHTTPClient and builds its dependencies."
    )
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    // Used only with the trait AsyncHTTPClient.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
  ],
  targets: [
    // The libraries and the tool, in the order of the architecture: a target imports only targets
    // above it.
    .systemLibrary(
      name: "CLMDB",
      pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
    ),
    // The C library of the platform, and the lock of the standard library.
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
        "Records/DownloadRecord.model", "Records/PieceDigests.model",
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
    .target(
      name: "DownloadAsyncHTTPClient",
      dependencies: ["DownloadStore", "DownloadSync", "SystemInterface"] + asyncHTTPClient
    ),
    // What the two command-line tools share: output, tables, manual pages, objects without their
    // Swift types.
    .target(
      name: "CommandLineSupport",
      dependencies: [
        "ObjectStore", "SystemInterface",
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
        "CommandLineSupport", "DownloadAsyncHTTPClient", "DownloadMetalink", "DownloadStore",
        "DownloadSync",
        "DownloadURLSession", "ObjectStore", "ResumeData", "SystemInterface",
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
      dependencies: ["DownloadStore", "DownloadSync", "DownloadURLSession"],
      path: "Examples/Quickstart"
    ),
    .target(
      name: "TestSupport",
      dependencies: ["SystemInterface"],
      path: "Tests/Support/TestSupport"
    ),
    // Separate from TestSupport, which executables link too: only tests link the testing library.
    .target(name: "TestTraits", path: "Tests/Support/TestTraits"),
    // Resume data: decoding, repair, creation and the property lists inside, with a fuzz run.
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
      dependencies: ["DownloadStore", "FuzzSupport", "ObjectStore", "TestSupport"],
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
    .executableTarget(
      name: "record-import-fuzz",
      dependencies: ["FuzzSupport", "StoreFuzzing"],
      path: "Tests/Support/record-import-fuzz"
    ),
    .target(
      name: "RowFuzzing",
      dependencies: ["CommandLineSupport", "FuzzSupport", "ObjectStore", "TestSupport"],
      path: "Tests/Support/RowFuzzing"
    ),
    .executableTarget(
      name: "rows-fuzz",
      dependencies: ["FuzzSupport", "RowFuzzing"],
      path: "Tests/Support/rows-fuzz"
    ),
    // A short fuzz run of damaged data files, JSON lines, records and rows, and a replay of their
    // corpora.
    .testTarget(
      name: "StoreFuzzTests",
      dependencies: [
        "FuzzSupport", "RowFuzzing", "StoreFuzzing", "TestSupport", "data-file-fuzz",
        "json-lines-fuzz", "record-import-fuzz", "rows-fuzz",
      ],
      exclude: ["DataFileCorpus", "JSONLinesCorpus", "RecordImportCorpus", "RowsCorpus"]
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
    // The server that injects faults into the replies of other tests.
    .testTarget(name: "FaultServerTests", dependencies: ["FaultServer", "SystemInterface"]),
    .target(
      name: "TransportTesting",
      dependencies: [
        "DownloadAsyncHTTPClient", "DownloadSync", "FaultServer", "SystemInterface",
        "DownloadURLSession",
      ],
      path: "Tests/Support/TransportTesting"
    ),
    // The contract of every transport: bodies, failures, redirects, back-pressure, cancellation.
    .testTarget(
      name: "TransportTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "SystemInterface", "TestTraits",
        "TransportTesting",
      ]
    ),
    // URLSession's own behaviour: its failures, its requests, and responses that crash it.
    .testTarget(
      name: "URLSessionTransportTests",
      dependencies: [
        "DownloadSync", "FaultServer", "SystemInterface", "TestTraits", "TransportTesting",
        "DownloadURLSession",
      ]
    ),
    // Failures of AsyncHTTPClient, and responses that crash URLSession.
    .testTarget(
      name: "AsyncHTTPClientTransportTests",
      dependencies: [
        "DownloadAsyncHTTPClient", "DownloadSync", "FaultServer", "SystemInterface", "TLSServer",
        "TestSupport", "TransportTesting",
      ] + asyncHTTPClient
    ),
    // Records, their transitions and commands, file names, identities, groups and progress.
    .testTarget(
      name: "DownloadStoreTests",
      dependencies: [
        "DownloadStore", "ObjectStore", "SystemInterface", "TestSupport", "TestTraits",
      ],
      exclude: ["Arithmetic.txt"]
    ),
    // The parts of the engine: reconciliation, scheduling, retries, responses, partial files.
    .testTarget(
      name: "DownloadSyncTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "ObjectStore", "ObjectStoreCore", "ResumeData",
        "SystemInterface", "TestSupport", "TestTraits",
      ]
    ),
    // The files of a schema, the rules of its changes, and their verdicts on real stores; the checks
    // of migrations, with migrations that are correct and others that are not.
    .testTarget(
      name: "MigrationTestingTests",
      dependencies: ["MigrationTesting", "ObjectStore", "TestSupport"]
    ),
    // The schema of the records against its lock file and its releases.
    .testTarget(
      name: "MigrationsTests",
      dependencies: [
        "DownloadStore", "MigrationTesting", "Migrations", "ObjectStore", "TestSupport",
      ]
    ),
    // Checks and records the schema of the records: make schema.
    .executableTarget(
      name: "download-schema",
      dependencies: ["DownloadStore", "MigrationTesting", "Migrations"],
      path: "Tests/Support/download-schema"
    ),
    // The file format, with an independent reader in Python.
    .testTarget(
      name: "SecondReaderTests",
      dependencies: ["DownloadStore", "LMDB", "ObjectStore", "TestSupport"]
    ),
    .target(
      name: "CommandTestSupport",
      dependencies: ["CommandLineSupport", "ObjectStore", "SystemInterface"],
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
        "DownloadStore", "DownloadSync", "FaultServer", "LMDB", "NginxServer",
        "ObjectStore", "ResumeData", "StoreFuzzing", "SystemInterface", "TestSupport", "TestTraits",
        "DownloadURLSession", "dlstore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .target(
      name: "NginxServer",
      dependencies: ["FaultServer", "TestSupport"],
      path: "Tests/Support/NginxServer"
    ),
    // The built tool, killed at any moment, with damaged files, on full disks, and after crashes.
    .testTarget(
      name: "KillTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "ObjectStore", "SystemInterface",
        "TestSupport", "TestTraits", "dlstore",
      ]
    ),
    .target(name: "PowerCut", path: "Tests/Support/PowerCut"),
    // Power cuts, replayed from a recording of the built tool's system calls.
    .testTarget(
      name: "PowerCutTests",
      dependencies: [
        "DownloadStore", "FaultServer", "ObjectStore", "PowerCut", "SystemInterface", "TestSupport",
        "dlstore",
      ],
      exclude: ["Recorder"]
    ),
    .target(
      name: "EngineTestSupport",
      dependencies: [
        "DownloadStore", "DownloadSync", "FaultServer", "ObjectStore", "SystemInterface",
        "TestSupport", "TransportTesting",
      ],
      path: "Tests/Support/EngineTestSupport"
    ),
    .testTarget(
      name: "DownloadMetalinkTests",
      dependencies: ["DownloadMetalink", "DownloadStore", "TestSupport"]
    ),
    // The engine with a real store, real files and a real server.
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "DownloadSimulation", "SystemInterface", "TestSupport", "TestTraits",
        "TransportTesting", .product(name: "Logging", package: "swift-log"),
      ]
    ),
    // The documented behaviour of earlier download managers (docs/predecessors.md).
    .testTarget(
      name: "PredecessorTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "EngineTestSupport", "FaultServer", "ObjectStore",
        "ResumeData", "DownloadSimulation", "SystemInterface", "TestSupport", "TestTraits",
        "TransportTesting", "DownloadURLSession",
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
    // The engine under random simulated faults, each run determined by a seed.
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "DownloadStore", "DownloadSync", "DownloadSimulation", "Simulation", "SystemInterface",
      ]
    ),
    .target(
      name: "HTTPFuzzing",
      dependencies: [
        "DownloadAsyncHTTPClient", "DownloadStore", "DownloadSync", "FaultServer", "FuzzSupport",
        "ObjectStore", "Simulation", "SystemInterface", "TLSServer", "TestSupport",
        "TransportTesting",
      ],
      path: "Tests/Support/HTTPFuzzing"
    ),
    // A server with TLS whose protocol is a script, such as frames of HTTP/2.
    .target(
      name: "TLSServer",
      dependencies: ["SystemInterface"] + asyncHTTPClient,
      path: "Tests/Support/TLSServer"
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
    .executableTarget(
      name: "http2-fuzz",
      dependencies: ["FuzzSupport", "HTTPFuzzing"],
      path: "Tests/Support/http2-fuzz"
    ),
    .executableTarget(
      name: "request-target-fuzz",
      dependencies: ["FuzzSupport", "HTTPFuzzing"],
      path: "Tests/Support/request-target-fuzz"
    ),
    // A short fuzz run of HTTP responses, simulated and over a socket, of frames and of targets.
    .testTarget(
      name: "HTTPFuzzTests",
      dependencies: [
        "FuzzSupport", "HTTPFuzzing", "TestSupport", "http-response-fuzz", "http-socket-fuzz",
        "http2-fuzz", "request-target-fuzz",
      ],
      exclude: ["Corpus", "HTTP2Corpus", "TargetCorpus"]
    ),
  ]
)

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
