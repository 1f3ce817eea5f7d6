package import LMDB
internal import SystemInterface

/// An index that is being built, in transactions of bounded size.
///
/// The transaction that begins the build lists it in the store. From then on every program that
/// writes maintains the index, and none reads it. So the build only adds the entries of objects that
/// have not been written since. The last transaction lists the index instead.
package struct IndexBuild: Sendable, Hashable {
  let model: String
  package let index: IndexDescription
  /// The least id of the objects whose entries may be missing.
  package var next: UInt64 = 0
  /// The number of objects before that, when they were read.
  var objectCount: UInt64 = 0

  private static let codingVersion: UInt8 = 1

  /// The entry that the store keeps during the build.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(next)
    writer.write(objectCount)
    return writer.bytes + index.encoded
  }

  package init(model: String, index: IndexDescription) {
    self.model = model
    self.index = index
  }

  init(model: String, id: UInt32, encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    self.model = model
    next = try reader.read()
    objectCount = try reader.read()
    index = try IndexDescription(id: id, encoded: &reader)
  }

  /// The key under which the store lists it.
  var key: String { MetadataKey.indexBuild(model, index.id) }

  /// Lists the build, and empties the table of the index.
  func begin(_ metadata: Metadata, in transaction: inout WriteTransaction) throws {
    try transaction.removeAll(in: try createTable(metadata, in: &transaction))
    try metadata.set(encoded, for: key, in: &transaction)
  }

  /// Ends the build without an index.
  package func cancel(_ metadata: Metadata, in transaction: inout WriteTransaction) throws {
    try transaction.delete(Array(key.utf8).span, in: metadata.database)
    try transaction.removeAll(in: try createTable(metadata, in: &transaction))
  }

  private func createTable(
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws -> Database {
    let storage = try metadata.layouts(of: model, in: transaction).storage ?? .sequential
    return try transaction.createDatabase(ModelTableNames(model, storage).index(index.id))
  }

  /// Lists the index instead of its build.
  package func complete(_ metadata: Metadata, in transaction: inout WriteTransaction) throws {
    try transaction.delete(Array(key.utf8).span, in: metadata.database)
    try metadata.set(
      index.encoded,
      for: MetadataKey.index(model, index.id),
      in: &transaction
    )
    try metadata.advanceEpoch(in: &transaction)
  }
}

extension Metadata {
  /// Returns the builds of a model's indexes, or those of all models, in the order of their keys.
  package func indexBuilds(
    of model: String? = nil,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [IndexBuild] {
    let start = MetadataKey.indexBuilds
    let prefix = Array((model.map { "\(start)\($0)/" } ?? start).utf8)
    var builds: [IndexBuild] = []
    try transaction.forEachEntry(withPrefix: prefix, in: database) { stored, value in
      let key = String(decodingUTF8: stored)
      let parts = key.metadataKeyParts
      guard parts.count == 3, let id = UInt32(parts[2]) else {
        throw StoreError(
          .damaged,
          "the store has a build of an index with the invalid key '\(key)'"
        )
      }
      let value = [UInt8](copying: value)
      builds.append(
        try decode(value, "the build of \(key)") { reader throws(RecordError) in
          try IndexBuild(model: String(parts[1]), id: id, encoded: &reader)
        }
      )
    }
    return builds
  }
}
