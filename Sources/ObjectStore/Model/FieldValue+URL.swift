#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension URL: FieldValue {
  /// How the value lies on disk: as its text, so that a field can become one, or cease to be one,
  /// without a migration.
  public static var fieldType: FieldType { .string }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  public init(from reader: inout ByteReader) throws(RecordError) {
    guard let url = URL(string: try reader.readString()) else {
      throw RecordError(.invalidValue)
    }
    self = url
  }

  /// Appends the text of the whole URL; what it was relative to is then part of it.
  public func encode(to writer: inout ByteWriter) {
    writer.write(absoluteString.utf8)
  }
}
