public import ObjectStore

/// The identity of a file, by its metadata: size, inode and modification time.
///
/// A rename does not change it. Another file at the same path, and a file that was written to, have
/// a different one. The contents are not read.
public struct FileIdentity: Sendable, Hashable {
  /// The size in bytes.
  public var size: Int64
  /// The inode number.
  package var inode: UInt64
  /// The modification time in nanoseconds since 1970.
  ///
  /// Times before 1677 and after 2262 are clamped.
  package var modified: Int64

  /// Creates a file identity.
  package init(size: Int64, inode: UInt64, modified: Int64) {
    self.size = size
    self.inode = inode
    self.modified = modified
  }
}

extension FileIdentity: FieldValue {
  /// A custom encoding.
  public static var fieldType: FieldType { .embedded("FileIdentity") }

  /// Decodes a file identity.
  public init(from reader: inout ByteReader) throws(RecordError) {
    size = try reader.read()
    inode = try reader.read()
    modified = try reader.read()
  }

  /// Encodes the file identity.
  public func encode(to writer: inout ByteWriter) {
    writer.write(size)
    writer.write(inode)
    writer.write(modified)
  }
}
