internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The bytes that a reader of a download has given out, and the version of the file that has them.
///
/// A reader that was slow may see a record only after the download began again and has passed the
/// reader's position. So the record and the file must show that the bytes are still those of the file.
package struct GivenBytes: Sendable {
  /// The range of the bytes; empty at first.
  package private(set) var range: Range<Int64>
  /// The record of the last bytes; `nil` at first.
  private(set) var record: DownloadRecord?
  /// The inode number of the file that had the first bytes.
  private var fileNumber: UInt64?
  /// Stays open, because another file could get the number of a deleted one.
  private var file: OpenFile?
  /// Whether the reader compares the bytes with a required digest.
  var hasRequiredDigest = false

  /// Creates the state of a reader that begins at an offset.
  init(from offset: Int64) {
    range = offset..<offset
  }

  /// Adds the bytes up to an offset.
  ///
  /// - Parameters:
  ///   - end: The offset.
  ///   - record: The record that counts them.
  ///   - file: The file that has them.
  mutating func append(upTo end: Int64, of record: DownloadRecord, in file: OpenFile? = nil) {
    range = range.lowerBound..<end
    self.record = record
    fileNumber = fileNumber ?? record.fileNumber ?? file?.number
    self.file = self.file ?? file
  }

  /// Whether the bytes that a record counts may be those of another version of the file.
  ///
  /// An equal validator promises the same bytes. A record keeps its validator as long as its bytes: one
  /// that has lost it counts others. Without a validator, another file has other bytes; the same file may
  /// have them, too, because a response with another version empties it. So it is with another validator
  /// and a required digest, with which the engine lets any server continue the bytes: the digest decides.
  func mayDiffer(from current: DownloadRecord) -> Bool {
    guard let record else { return false }
    if let size = record.expected, current.expected != size { return true }
    if let version = Validator(of: record) {
      let isEqual =
        version.isStrong
        ? current.entityTag.map(StoredText.init) == version.entityTag.map(StoredText.init)
        : current.lastModified == version.lastModified
      if isEqual || !hasRequiredDigest { return !isEqual }
    }
    guard let fileNumber, let other = current.fileNumber else { return false }
    return other != fileNumber
  }

  /// Whether a record states that its file is another version.
  func isContradicted(by current: DownloadRecord) -> Bool {
    guard let record else { return false }
    if let size = record.expected, let other = current.expected, other != size { return true }
    return Validator(of: record)?.isContradicted(
      byEntityTag: current.entityTag,
      lastModified: current.lastModified
    ) ?? false
  }
}

extension DownloadRecord {
  /// The inode number of the file with the counted bytes; `nil` if it is unknown.
  fileprivate var fileNumber: UInt64? {
    (state == .completed ? fileIdentity : partialIdentity)?.inode
  }
}
