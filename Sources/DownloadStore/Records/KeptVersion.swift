public import ObjectStore

/// A previous version of a finished file, which stays beside it.
public struct KeptVersion: Sendable, Hashable {
  /// The number in the name; higher is newer.
  public var number: Int32
  /// The file name, as in `app.tar.gz.~3~`.
  public var filename: String
  /// The identity of the file: another file with this name is not the download's.
  package var identity: FileIdentity

  /// Creates a kept version.
  package init(number: Int32, filename: String, identity: FileIdentity) {
    self.number = number
    self.filename = filename
    self.identity = identity
  }

  /// The name of a numbered version of a file, as `cp --backup=numbered` chooses it.
  ///
  /// A name that would be too long loses characters before the number.
  package static func filename(_ name: String, _ number: Int32) -> String {
    let suffix = ".~\(number)~"
    var name = name
    while name.utf8.count + suffix.utf8.count > SafeFilename.longest, !name.isEmpty {
      name.removeLast()
    }
    return name + suffix
  }
}

extension KeptVersion: FieldValue {
  /// A custom encoding: fields in sequence, to which later versions append.
  public static var fieldType: FieldType { .embedded("KeptVersion") }

  /// Decodes a version; skips fields that a later version of the program appended.
  public init(from reader: inout ByteReader) throws(RecordError) {
    number = try reader.readSized()
    filename = try reader.readSized()
    identity = try reader.readSized()
  }

  /// Encodes the version.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(number)
    writer.writeSized(filename)
    writer.writeSized(identity)
  }
}
