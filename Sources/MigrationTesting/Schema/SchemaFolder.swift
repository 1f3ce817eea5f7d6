internal import Crypto
internal import Foundation
public import ObjectStore

/// The folder with the files that record a program's schema: its current one and its releases.
///
/// | file | contents |
/// |---|---|
/// | `schema.lock.json` | the models of the current sources |
/// | `Schemas/0001.json` … | the schema of each release, with the digest of the previous file |
/// | `Schemas/released.sha256` | the digests of the releases, for `sha256sum -c` |
///
/// All of them belong under version control. ``accept(_:version:)`` and ``release(_:version:)``
/// write them, and one line in a test checks that the models are those of the files, and that
/// nothing prevents a release:
///
/// ```swift
/// @Test func schema() throws {
///   try SchemaFolder("Migrations").require([Note.self], version: 3)
/// }
/// ```
public struct SchemaFolder: Sendable, Hashable {
  /// The path of the folder.
  public let path: String

  /// Names a folder, which need not exist yet.
  public init(_ path: String) { self.path = path }

  /// The path of the file with the current schema.
  public var lockPath: String { path + "/schema.lock.json" }

  /// The path of the file of a release, counted from 1.
  public func releasePath(_ number: Int) -> String { releasesPath + "/" + Self.fileName(number) }

  private var releasesPath: String { path + "/Schemas" }
  private var digestsPath: String { releasesPath + "/released.sha256" }

  // MARK: Checking

  /// Compares models with the files.
  ///
  /// - Parameters:
  ///   - models: The models that the program opens a store with.
  ///   - version: Their schema version, as in `StoreOptions.schemaVersion`.
  ///   - objectCounts: By model name, the number of objects in a store, which the report then
  ///     states.
  /// - Returns: The differences from the newest release, and what must be corrected.
  /// - Throws: `DecodingError` or a file system error if a file cannot be read.
  public func check(
    _ models: [any Model.Type],
    version: UInt32,
    objectCounts: [String: Int] = [:]
  ) throws -> SchemaReport {
    try check(SchemaDescription(of: models, version: version), objectCounts: objectCounts)
  }

  func check(
    _ current: SchemaDescription,
    objectCounts: [String: Int] = [:]
  ) throws -> SchemaReport {
    let found = try examine(current, objectCounts: objectCounts)
    var report = found.report
    if !found.isCurrent {
      report.problems.append(found.lock == nil ? missingLock : Self.outdated)
    }
    return report
  }

  /// Throws unless the models are those of the files, and may be released.
  ///
  /// - Parameters:
  ///   - models: The models that the program opens a store with.
  ///   - version: Their schema version.
  /// - Throws: ``SchemaError`` with all changes and problems; `DecodingError` or a file system error
  ///   if a file cannot be read.
  public func require(_ models: [any Model.Type], version: UInt32) throws {
    let report = try check(models, version: version)
    guard report.problems.isEmpty else { throw SchemaError(report: report) }
  }

  // MARK: Writing

  /// Writes the lock file, after a change of the models.
  ///
  /// A field of the newest release that the models do not have is retired: its id is never used
  /// again.
  ///
  /// - Parameters:
  ///   - models: The models that the program opens a store with.
  ///   - version: Their schema version.
  /// - Returns: The differences from the newest release.
  /// - Throws: ``SchemaError``, and writes nothing, if a change is refused, if it needs a higher
  ///   version, or if the files of the releases are not intact; `DecodingError` or a file system
  ///   error if a file cannot be read or written.
  @discardableResult
  public func accept(_ models: [any Model.Type], version: UInt32) throws -> SchemaReport {
    try accept(SchemaDescription(of: models, version: version))
  }

  @discardableResult
  func accept(_ current: SchemaDescription) throws -> SchemaReport {
    let found = try examine(current)
    guard found.report.problems.isEmpty else { throw SchemaError(report: found.report) }
    if !found.isCurrent {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Self.write(try Self.encode(found.locked), to: lockPath)
    }
    return found.report
  }

  /// Records the schema of a release, which never changes after that.
  ///
  /// - Parameters:
  ///   - models: The models that the program opens a store with.
  ///   - version: Their schema version.
  /// - Returns: The number of the release; that of the newest one if nothing has changed since.
  /// - Throws: As ``require(_:version:)``, or a file system error if a file cannot be written.
  public func release(_ models: [any Model.Type], version: UInt32) throws -> Int {
    try release(SchemaDescription(of: models, version: version))
  }

  func release(_ current: SchemaDescription) throws -> Int {
    let found = try examine(current)
    guard found.isCurrent, found.report.problems.isEmpty else {
      throw SchemaError(report: try check(current))
    }
    let chain = found.chain
    if chain.releases.last?.schema == found.locked { return chain.releases.count }
    let number = chain.releases.count + 1
    let release = SchemaRelease(previous: chain.digests.last, schema: found.locked)
    let bytes = try Self.encode(release)
    try FileManager.default.createDirectory(atPath: releasesPath, withIntermediateDirectories: true)
    try Self.write(bytes, to: releasePath(number))
    let lines = (chain.digests + [Self.digest(of: bytes)]).enumerated()
      .map { "\($1)  \(Self.fileName($0 + 1))\n" }
    try Self.write(Data(lines.joined().utf8), to: digestsPath)
    return number
  }

  // MARK: Reading

  private static let outdated = "the lock file does not describe the models: accept the change"

  private var missingLock: String {
    "there is no file \(lockPath): run 'accept', or name the folder that has it"
  }

  /// A schema beside the files.
  private struct Examination {
    var chain: Chain
    /// The differences from the newest release; without the lock file.
    var report: SchemaReport
    /// The schema with its retired ids.
    var locked: SchemaDescription
    /// The schema in the lock file; `nil` if there is none.
    var lock: SchemaDescription?
    /// Whether the lock file has the schema with its retired ids.
    var isCurrent: Bool { lock == locked }
  }

  /// Compares a schema with the files.
  private func examine(
    _ current: SchemaDescription,
    objectCounts: [String: Int] = [:]
  ) throws -> Examination {
    let chain = try readChain()
    var report = SchemaReport(changes: [], problems: chain.problems, release: nil)
    var locked = current
    if let newest = chain.releases.last?.schema {
      report.release = chain.releases.count
      report.changes =
        SchemaComparison(
          from: newest,
          to: current,
          releases: chain.releases.map(\.schema),
          objectCounts: objectCounts
        ).changes
      locked = current.retiring(newest)
      report.problems += Self.problems(of: report.changes, after: newest.version)
    }
    return Examination(
      chain: chain,
      report: report,
      locked: locked,
      lock: try readLock()
    )
  }

  private static func problems(of changes: [SchemaChange], after version: UInt32) -> [String] {
    let isRaised = changes.contains { $0.rule == .versionRaised }
    return changes.compactMap { change in
      if change.verdict == .refused { return "\(change.subject) is refused: \(change.effect)" }
      guard change.rule.needsHigherVersion, !isRaised else { return nil }
      return "\(change.subject) needs a schema version above \(version): \(change.effect)"
    }
  }

  private func readLock() throws -> SchemaDescription? {
    guard FileManager.default.fileExists(atPath: lockPath) else { return nil }
    return try JSONDecoder().decode(
      SchemaDescription.self,
      from: Data(contentsOf: URL(filePath: lockPath))
    )
  }

  /// The releases, oldest first.
  public func releases() throws -> [SchemaRelease] { try readChain().releases }

  /// The releases, and whether they form an intact chain.
  private struct Chain {
    var releases: [SchemaRelease] = []
    var digests: [String] = []
    var problems: [String] = []
  }

  private func readChain() throws -> Chain {
    var chain = Chain()
    let recorded = try readDigests()
    while FileManager.default.fileExists(atPath: releasePath(chain.releases.count + 1)) {
      let number = chain.releases.count + 1
      let name = Self.fileName(number)
      let bytes = try Data(contentsOf: URL(filePath: releasePath(number)))
      let release = try JSONDecoder().decode(SchemaRelease.self, from: bytes)
      let digest = Self.digest(of: bytes)
      let expected = recorded[name] ?? []
      if expected.count > 1 {
        chain.problems.append("\(name) has two digests: two branches released number \(number)")
      } else if expected != [digest] {
        chain.problems.append("\(name) is not the file that was released: restore it")
      }
      if release.previous != chain.digests.last {
        chain.problems.append(
          "\(name) continues another release than number \(number - 1): two branches released it"
        )
      }
      chain.releases.append(release)
      chain.digests.append(digest)
    }
    let names = Set((1..<chain.releases.count + 1).map(Self.fileName))
    for name in recorded.keys.sorted() where !names.contains(name) {
      chain.problems.append("the release \(name) is missing: restore it")
    }
    return chain
  }

  /// Returns the recorded digests of each file.
  private func readDigests() throws -> [String: Set<String>] {
    guard FileManager.default.fileExists(atPath: digestsPath) else { return [:] }
    let text = try String(contentsOfFile: digestsPath, encoding: .utf8)
    return text.split(separator: "\n").reduce(into: [:]) { digests, line in
      let words = line.split(separator: " ", maxSplits: 1)
      let name = words.count == 2 ? words[1].trimmingPrefix(" ") : line
      digests[String(name), default: []].insert(String(words[0]))
    }
  }

  // MARK: Files

  private static func fileName(_ number: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ".json"
  }

  /// Encodes a value as JSON with sorted keys and one value per line.
  private static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value) + Data("\n".utf8)
  }

  private static func write(_ bytes: Data, to path: String) throws {
    try bytes.write(to: URL(filePath: path), options: .atomic)
  }

  private static func digest(of bytes: Data) -> String {
    Hexadecimal.encode(Array(SHA256.hash(data: bytes)))
  }
}

extension SchemaDescription {
  /// Returns the schema with the ids that a release has retired or that it dropped.
  func retiring(_ release: SchemaDescription) -> SchemaDescription {
    var models = models
    for old in release.models {
      let index = models.firstIndex { $0.name == old.name }
      let kept = Set(index.map { models[$0].fields.map(\.id) } ?? [])
      let retired = Set(old.retiredIDs + old.fields.map(\.id)).subtracting(kept).sorted()
      if let index {
        models[index].retiredIDs = retired
      } else {
        // A dropped model keeps its entry, so that its name and its ids are not used again.
        models.append(
          Model(
            name: old.name,
            fields: [],
            indexes: [],
            layout: old.layout,
            retiredIDs: retired
          )
        )
      }
    }
    return SchemaDescription(version: version, models: models)
  }
}
