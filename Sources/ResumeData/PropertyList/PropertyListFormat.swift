/// How a property list is written.
package enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
  /// XML, after Apple's DTD of version 1.0.
  case xml
  /// The binary format `bplist00`.
  case binary

  /// Recognises a format by the first bytes.
  ///
  /// `nil` when they are of neither.
  package init?(of bytes: [UInt8]) {
    if bytes.starts(with: Self.binaryMagic) {
      self = .binary
      return
    }
    let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    guard bytes[start...].first(where: { !$0.isXMLSpace }) == UInt8(ascii: "<") else { return nil }
    self = .xml
  }

  static let binaryMagic = Array("bplist00".utf8)
  /// U+FEFF in UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension PropertyList {
  /// Reads a property list, in the format that its first bytes tell.
  ///
  /// - Throws: ``ResumeDataError`` with `notPropertyList`, `malformed` or `tooLarge`.
  /// - Complexity: O(*n*) in the bytes and in the size that the limits allow.
  package init(
    _ bytes: [UInt8],
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) {
    guard bytes.count <= limits.byteCount else {
      throw ResumeDataError(.tooLarge, "\(bytes.count) bytes are too many")
    }
    switch PropertyListFormat(of: bytes) {
    case .binary: self = try BinaryPropertyListReader.read(bytes, limits: limits)
    case .xml: self = try XMLPropertyListReader.read(bytes, limits: limits)
    case nil: throw ResumeDataError(.notPropertyList, "it is not a property list")
    }
  }

  /// Writes the property list; the same bytes each time.
  ///
  /// Both formats keep the order of dictionaries. XML drops fractions of seconds.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepresentable` for a value that the format cannot hold,
  ///   or `tooLarge` beyond the limits of depth and size.
  package func encoded(
    as format: PropertyListFormat,
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) -> [UInt8] {
    switch format {
    case .xml: try XMLPropertyListWriter.write(self, limits: limits)
    case .binary: try BinaryPropertyListWriter.write(self, limits: limits)
    }
  }
}
