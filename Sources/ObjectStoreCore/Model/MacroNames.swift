/// The names that the expansions of `@Model` and `@Embedded` use.
///
/// A file may import other modules with types of the same names, such as GRDB's `Column` or
/// `RecordError`, and a model may contain types that are called like ours. An expansion reaches ours
/// through this name, which nothing else has. Do not use it in other code.
public enum ObjectStoreNames {
  /// The protocol of stored structs.
  public typealias Model = ObjectStoreCore.Model
  /// The protocol of the types of fields.
  public typealias FieldValue = ObjectStoreCore.FieldValue
  /// The stored form of a field.
  public typealias FieldType = ObjectStoreCore.FieldType
  /// A stored field of a model.
  public typealias Column = ObjectStoreCore.Column
  /// The name and the fields of a model.
  public typealias ModelSchema = ObjectStoreCore.ModelSchema
  /// The name and the type of a field.
  public typealias FieldSchema = ObjectStoreCore.FieldSchema
  /// An index over several fields.
  public typealias IndexSchema = ObjectStoreCore.IndexSchema
  /// The stored form of an object.
  public typealias RecordView = ObjectStoreCore.RecordView
  /// Writes the fields of an object.
  public typealias RecordEncoder = ObjectStoreCore.RecordEncoder
  /// Reads the stored form of a value.
  public typealias ByteReader = ObjectStoreCore.ByteReader
  /// Writes the stored form of a value.
  public typealias ByteWriter = ObjectStoreCore.ByteWriter
  /// A stored form that cannot be read.
  public typealias RecordError = ObjectStoreCore.RecordError
}
