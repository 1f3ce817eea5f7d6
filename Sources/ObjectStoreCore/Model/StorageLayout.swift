/// The order in which a store keeps the objects of a model, and so the cost of each kind of access.
///
/// ```swift
/// static let schema = ModelSchema(
///   name: "Page",
///   fields: [
///     FieldSchema("url", String.self, isPrimaryKey: true),
///     FieldSchema("title", String.self),
///   ],
///   layout: .byKey
/// )
/// ```
///
/// Both layouts have the same API and the same guarantees. To change the layout of a stored model,
/// raise ``StoreOptions/schemaVersion`` with it. The first program that opens the store for writing
/// then copies the objects to the other layout, some thousand in each transaction, before it
/// returns. If it is killed, the next one continues. Until the end, other programs read the objects
/// in the previous layout. A conversion ends the history: tokens from before it have expired.
public enum StorageLayout: Sendable, Hashable, CaseIterable {
  /// Objects are stored in the order in which they were inserted, and hot fields apart from the
  /// others.
  ///
  /// Choose it for models that are written often, and in the order in which their objects were
  /// inserted: new objects and changes of recent objects share pages. A lookup by primary key takes
  /// two tree descents, and one more for hot fields. This is the default.
  case sequential

  /// Objects are stored by the hash of their primary keys.
  ///
  /// Choose it for models whose objects are mostly looked up or replaced by primary key, in no
  /// particular order: a lookup takes one tree descent. New objects and changes of recent objects
  /// are scattered over the whole table, so small durable commits write more pages. Hot fields are
  /// stored with the others, and queries without a sort order return objects in the order of their
  /// hashes, which differs between stores and stays the same for an object within a store. Read
  /// "insertion order" as that order for such a model.
  case byKey
}

extension StorageLayout {
  /// The greatest object id of a model that is stored by key.
  static let maximumKeyedID = UInt64(Int64.max)

  /// Returns the id of the object whose primary key has this hash, unless another object has that
  /// id.
  ///
  /// It is the hash without its highest bit, and 1 instead of 0, because no object has the id 0.
  @inline(__always)
  package static func homeID(ofHash hash: UInt64) -> UInt64 { max(1, hash & maximumKeyedID) }

  /// Returns the id to try if an object with another primary key has this one.
  static func keyedID(after id: UInt64) -> UInt64 { id < maximumKeyedID ? id + 1 : 1 }
}
