import Crypto
import DownloadStore
import Foundation
import Migrations
import ObjectStore
import Testing

/// The checked-in files that record the schema.
enum SchemaFiles {
  private static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let lock = package.appending(path: "Migrations/schema.lock.json")
  static let frozenFolder = package.appending(path: "Migrations/Schemas")
  static let released = package.appending(path: "Tests/MigrationsTests/released.sha256")

  /// The schema of the current models.
  static var current: SchemaLock {
    SchemaLock(
      version: DownloadMigrations.currentVersion,
      schemas: RecordStore.models.map { $0.schema },
      retiredIDs: DownloadMigrations.retiredIDs
    )
  }

  /// Whether the tests write the files instead of comparing them.
  static let isRecording = ProcessInfo.processInfo.environment["DLSTORE_RECORD_SCHEMA"] == "1"

  static func frozen(_ version: UInt32) -> URL {
    let digits = "\(version)"
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    return frozenFolder.appending(path: "\(zeros)\(digits).json")
  }

  /// Encodes a value in the format of the files: JSON with sorted keys and one value per line.
  static func text(of value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value) + Data("\n".utf8)
  }

  static func digest(of data: Data) -> String {
    SHA256.hash(data: data)
      .map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }
      .joined()
  }

  /// Returns the digests of the frozen files by file name, read from `released.sha256`.
  static func releasedDigests() throws -> [String: String] {
    let lines = try String(contentsOf: released, encoding: .utf8).split(separator: "\n")
    let pairs = try lines.map { line in
      let words = line.split(separator: " ")
      try #require(words.count == 2, "'\(line)' is not a digest and a file name")
      return (String(words[1]), String(words[0]))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// Writes the lock file.
  ///
  /// If the current version is not frozen, freezes it and records its digest.
  static func record() throws {
    try text(of: current).write(to: lock)
    let version = DownloadMigrations.currentVersion
    let file = frozen(version)
    guard !FileManager.default.fileExists(atPath: file.path) else { return }
    let previous = version == 1 ? nil : digest(of: try Data(contentsOf: frozen(version - 1)))
    let bytes = try text(of: FrozenSchema(previous: previous, schema: current))
    try FileManager.default.createDirectory(at: frozenFolder, withIntermediateDirectories: true)
    try bytes.write(to: file)
    var digests = (try? releasedDigests()) ?? [:]
    digests[file.lastPathComponent] = digest(of: bytes)
    let lines = digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }
    try Data(lines.joined().utf8).write(to: released)
  }
}
