public import ObjectStore

/// The identity of a file without reading it: unchanged by a rename, and different for another file at
/// the same path.
public struct FileIdentity: Sendable, Hashable {
  /// The size in bytes.
  public var size: Int64
  /// The inode number.
  public var inode: UInt64
  /// The modification time in nanoseconds since 1970.
  ///
  /// Times before 1677 and after 2262 are clamped.
  public var modified: Int64

  /// Creates a stamp.
  public init(size: Int64, inode: UInt64, modified: Int64) {
    self.size = size
    self.inode = inode
    self.modified = modified
  }
}

extension FileIdentity: FieldValue {
  /// A custom encoding.
  public static var fieldType: FieldType { .embedded("FileStamp") }

  /// Decodes a stamp.
  public init(from reader: inout ByteReader) throws(RecordError) {
    size = try reader.read()
    inode = try reader.read()
    modified = try reader.read()
  }

  /// Encodes the stamp.
  public func encode(to writer: inout ByteWriter) {
    writer.write(size)
    writer.write(inode)
    writer.write(modified)
  }
}
