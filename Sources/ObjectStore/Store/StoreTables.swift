internal import LMDB

/// The databases of one model, and how its records are to be read.
///
/// A value as of one epoch.
struct ModelTables: Sendable {
  /// An index that some program keeps over a field of the model.
  struct Index: Sendable {
    var fieldID: UInt32
    var type: FieldType
    var database: Database
  }

  let name: String
  /// Object id (integer) to the cold part of the record.
  let records: Database
  /// Object id (integer) to the hot part.
  let hot: Database
  /// Hash of the primary key (integer) to the ids of the objects with that hash, eight bytes each.
  let keys: Database
  /// All indexes that the store has, also those that this program's schema does not know.
  let indexes: [Index]
  /// How to read each layout that the store has.
  let bindings: [UInt16: LayoutBinding]
  /// The layout in which this program writes, and its number; `nil` in a store that is open for
  /// reading and has none.
  let current: LayoutBinding?
  let primaryKeyPosition: Int
  let hashSeed: UInt64

  func index(onFieldAt position: Int, of schema: ModelSchema) -> Index? {
    let id = schema.fields[position].id
    return indexes.first { $0.fieldID == id }
  }
}

/// The names of a model's databases.
enum TableName {
  static let store = "store"
  static func records(_ model: String) -> String { model }
  static func hot(_ model: String) -> String { "\(model)/hot" }
  static func keys(_ model: String) -> String { "\(model)/keys" }
  static func index(_ model: String, _ fieldID: UInt32) -> String { "\(model)/index/\(fieldID)" }
}
