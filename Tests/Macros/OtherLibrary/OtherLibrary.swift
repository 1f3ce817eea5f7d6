// A library whose types are called like those of the store, as GRDB's and SwiftData's are.

/// A type of another library.
public protocol Model {}
/// A type of another library.
public protocol FieldValue {}
/// A type of another library.
public struct Column<Value> {}
/// A type of another library.
public enum FieldType {}
/// A type of another library.
public struct ModelSchema {}
/// A type of another library.
public struct FieldSchema {}
/// A type of another library.
public struct IndexSchema {}
/// A type of another library.
public struct RecordView {}
/// A type of another library.
public struct RecordEncoder {}
/// A type of another library.
public struct RecordError: Error {}
/// A type of another library.
public struct ByteReader {}
/// A type of another library.
public struct ByteWriter {}
/// A type of another library.
public enum ObjectStore {}
