public import ObjectStore

/// What a file is known by without reading it: it keeps all of this when it is renamed, and another
/// file at the same place has something else.
public struct FileStamp: Sendable, Hashable {
  /// The size in bytes.
  public var size: Int64
  /// The number of the file in its file system.
  public var inode: UInt64
  /// When the bytes last changed, in nanoseconds since 1970.
  ///
  /// Some file systems hold times before 1677 and after 2262, which are clamped to that range.
  public var modified: Int64

  /// Describes a file.
  public init(size: Int64, inode: UInt64, modified: Int64) {
    self.size = size
    self.inode = inode
    self.modified = modified
  }
}

extension FileStamp: FieldValue {
  /// A value of its own coding.
  public static var fieldType: FieldType { .embedded("FileStamp") }

  /// Reads a stamp.
  public init(from reader: inout ByteReader) throws(RecordError) {
    size = try reader.read()
    inode = try reader.read()
    modified = try reader.read()
  }

  /// Writes the stamp.
  public func encode(to writer: inout ByteWriter) {
    writer.write(size)
    writer.write(inode)
    writer.write(modified)
  }
}
