/// The keys of the table `store`, which describes the store itself.
enum MetadataKey {
  /// The version of the storage format: UInt32.
  static let format = "format"
  /// The seed of the hash of primary keys: UInt64, chosen at random when the store is made.
  static let seed = "seed"
  /// Counts changes of what this table says of models, so that programs notice those of others.
  static let epoch = "epoch"
  /// The version of the application's schema, which is also the least that may write: UInt32.
  static let schemaVersion = "schema version"

  /// The fields of one layout of a model's records.
  ///
  /// See ``RecordLayout/encoded``.
  static func layout(_ model: String, _ number: Int) -> String { "layout/\(model)/\(number)" }
  /// One index of a model; see ``IndexDescription/encoded``.
  static func index(_ model: String, _ id: UInt32) -> String { "index/\(model)/\(id)" }
  /// What a field of a model refers to; see ``ReferenceRule/encoded``.
  static func reference(_ model: String, _ field: UInt32) -> String {
    "reference/\(model)/\(field)"
  }
  /// The greatest id of an object that was the last one when it was deleted: ids are never given twice.
  static func floor(_ model: String) -> String { "floor/\(model)" }
  /// The last number that was given to be a primary key: UInt64.
  static func counter(_ model: String) -> String { "counter/\(model)" }

  static let currentFormat: UInt32 = 1
}
