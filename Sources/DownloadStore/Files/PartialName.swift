/// The name of a partial file, which identifies its record and its store.
///
/// Several stores may share a folder and contain the same URL, so the record's id alone is not
/// enough.
package struct PartialName: Sendable, Hashable {
  /// The suffix of all such names.
  package static let suffix = ".dlstore-part"
  /// The number of hexadecimal digits of an id.
  private static let idLength = 16

  /// The id of the record.
  package var recordID: String
  /// The id of the store; `nil` in names given by earlier builds, whose owner is not certain.
  package var storeID: String?

  /// Creates the name of a record's partial file.
  package init(recordID: String, storeID: String?) {
    self.recordID = recordID
    self.storeID = storeID
  }

  /// Parses a file name; `nil` if it does not name a partial file.
  package init?(_ text: String) {
    guard text.utf8.count > Self.suffix.utf8.count, text.utf8.allSatisfy({ $0 < 0x80 }),
      text.hasSuffix(Self.suffix)
    else { return nil }
    let ids = text.dropLast(Self.suffix.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard ids.count <= 2, ids.allSatisfy(Self.isID) else { return nil }
    recordID = String(ids[0])
    storeID = ids.count == 2 ? String(ids[1]) : nil
  }

  /// The name.
  package var text: String {
    (storeID.map { "\(recordID)-\($0)" } ?? recordID) + Self.suffix
  }

  private static func isID(_ text: Substring) -> Bool {
    text.utf8.count == idLength
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }
}
