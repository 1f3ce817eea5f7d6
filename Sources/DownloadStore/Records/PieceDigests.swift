// Expanded from PieceDigests.model by the @Model macro. Do not edit: change the template and run `make models`.
package import ObjectStore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The digests of the pieces of a file: equally long ranges, of which the last may be shorter.
///
/// A publisher requires them, or the engine records them when pieces are synced; see
/// ``isRequired``.
package struct PieceDigests: Sendable, Hashable {
  /// The id of the record.
  package var recordID: String
  /// The size of the file in bytes.
  package var byteCount: Int64
  /// The length of a piece in bytes.
  package var pieceLength: Int64
  /// The name of the algorithm: `xxh64`, or that of a ``Digest/Algorithm``.
  package var algorithm: String
  /// The digests one after the other.
  ///
  /// In a table that the engine records, zeros stand for a piece that has none.
  package var digests: Data
}

nonisolated extension PieceDigests: ObjectStoreNames.Model {
  /// The stored fields, each under its name.
  package nonisolated struct Columns: Swift.Sendable {
    /// The field `recordID`.
    package let recordID = ObjectStoreNames.Column<PieceDigests, String>(position: 0)
    /// The field `byteCount`.
    package let byteCount = ObjectStoreNames.Column<PieceDigests, Int64>(position: 1)
    /// The field `pieceLength`.
    package let pieceLength = ObjectStoreNames.Column<PieceDigests, Int64>(position: 2)
    /// The field `algorithm`.
    package let algorithm = ObjectStoreNames.Column<PieceDigests, String>(position: 3)
    /// The field `digests`.
    package let digests = ObjectStoreNames.Column<PieceDigests, Data>(position: 4)
  }

  /// The stored fields, for use in queries.
  package static let columns = Columns()

  /// The name and the fields under which objects are stored.
  package static let schema = ObjectStoreNames.ModelSchema(
    name: "PieceDigests",
    fields: [
      ObjectStoreNames.FieldSchema("recordID", String.self, id: 1, isPrimaryKey: true),
      ObjectStoreNames.FieldSchema("byteCount", Int64.self, id: 2),
      ObjectStoreNames.FieldSchema("pieceLength", Int64.self, id: 3),
      ObjectStoreNames.FieldSchema("algorithm", String.self, id: 4),
      ObjectStoreNames.FieldSchema("digests", Data.self, id: 5),
    ]
  )

  /// The value of `recordID`, which tells one object from another.
  package var primaryKey: String { recordID }

  /// Reads every stored field.
  package init(
    from record: borrowing ObjectStoreNames.RecordView
  ) throws(ObjectStoreNames.RecordError) {
    recordID = try record.value(at: 0)
    byteCount = try record.value(at: 1)
    pieceLength = try record.value(at: 2)
    algorithm = try record.value(at: 3)
    digests = try record.value(at: 4)
  }

  /// Writes every stored field.
  package func encode(to record: inout ObjectStoreNames.RecordEncoder) {
    record.encode(recordID)
    record.encode(byteCount)
    record.encode(pieceLength)
    record.encode(algorithm)
    record.encode(digests)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  package static func fieldPosition(of property: Swift.PartialKeyPath<PieceDigests>) -> Swift.Int? {
    let properties: [Swift.PartialKeyPath<PieceDigests>] = [
      \.recordID,
      \.byteCount,
      \.pieceLength,
      \.algorithm,
      \.digests,
    ]
    return properties.firstIndex(of: property)
  }
}
