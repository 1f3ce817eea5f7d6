internal import Foundation
public import ObjectStore

/// A store of an earlier version of a program.
///
/// Check one in for each release, as an export: it shows in a review what changed, and does not
/// depend on the file format. Generated ones test sizes and values that nobody thought of.
///
/// ```swift
/// let small = MigrationFixture.jsonLines(at: "Tests/Fixtures/0001.jsonl")
/// let large = MigrationFixture.generated(from: SchemaFolder("Migrations"), release: 1, count: 1_000_000)
/// ```
public struct MigrationFixture: Sendable {
  enum Source: Sendable {
    case store(String)
    case jsonLines(String)
    case generated(SchemaFolder, release: Int, GeneratedObjects)
  }

  let source: Source

  /// A copy of a store.
  ///
  /// - Parameter path: The folder of the store, which is not changed.
  /// - Returns: The fixture.
  public static func store(at path: String) -> Self { Self(source: .store(path)) }

  /// A store with the objects of an export.
  ///
  /// - Parameter path: A file that `Store.exportJSONLines(to:)` has written.
  /// - Returns: The fixture.
  public static func jsonLines(at path: String) -> Self { Self(source: .jsonLines(path)) }

  /// A store with random objects of a release.
  ///
  /// Objects of the same seed are equal. References lead to objects that exist, and unique values
  /// differ.
  ///
  /// - Parameters:
  ///   - folder: The folder with the schemas of the releases.
  ///   - release: The number of the release, from 1.
  ///   - count: The number of objects of each model.
  ///   - seed: A number that determines the values.
  ///   - values: For fields that permit few values, such as enumerations: the values by the names of
  ///     the model and the field, as in `"Note.state"`.
  /// - Returns: The fixture.
  public static func generated(
    from folder: SchemaFolder,
    release: Int,
    count: Int,
    seed: UInt64 = 1,
    values: [String: [StoredValue]] = [:]
  ) -> Self {
    let objects = GeneratedObjects(count: count, seed: seed, values: values)
    return Self(source: .generated(folder, release: release, objects))
  }

  /// Makes the store in a new folder.
  func make(at path: String) throws {
    switch source {
    case .store(let original):
      try Store.copy(original, to: path)
    case .jsonLines(let file):
      try Self.importFile(file, into: path)
    case .generated(let folder, let release, let objects):
      let file = path + ".jsonl"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try objects.write(try Self.schema(folder, release), to: file)
      try Self.importFile(file, into: path)
    }
  }

  static func schema(_ folder: SchemaFolder, _ release: Int) throws -> SchemaDescription {
    let releases = try folder.releases()
    guard releases.indices.contains(release - 1) else {
      throw MigrationTestFailure("\(folder.path) has no release \(release)")
    }
    return releases[release - 1].schema
  }

  static func importFile(_ file: String, into path: String) throws {
    guard let handle = FileHandle(forReadingAtPath: file) else {
      throw MigrationTestFailure("\(file) cannot be read")
    }
    _ = try Store.importJSONLines(
      from: handle.fileDescriptor,
      named: file,
      intoStoreAt: path,
      options: ImportOptions()
    )
  }
}

/// A migration that does not do what it must.
public struct MigrationTestFailure: Error, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension Store {
  /// Copies the data of a store that no program writes.
  static func copy(_ path: String, to target: String) throws {
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: target + "/data.mdb")
  }
}
