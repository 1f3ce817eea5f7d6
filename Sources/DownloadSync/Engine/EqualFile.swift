internal import DownloadStore
internal import ObjectStore

/// What an engine does for a download that requires the digest of a finished file of the store.
///
/// ```swift
/// var options = EngineOptions()
/// options.equalFiles = .download
/// ```
public enum EqualFiles: String, Sendable, Hashable, CaseIterable {
  /// Its bytes are copied from that file, and no server is asked.
  ///
  /// Requires SHA-256 or SHA-512, and a file that has its recorded size, inode and modification time.
  /// The copy is a file of its own: a change of one does not change the other. On a file system that
  /// can (Btrfs, XFS, NFS 4.2), both use the same blocks of the disk until one is changed. The digest
  /// of the copy is compared as that of a download. If it differs, or the file cannot be read, the
  /// bytes are requested.
  case copy
  /// Its bytes are requested from its server.
  case download
}

/// A finished file of the store with the digest that a download requires.
struct EqualFile: Sendable, Hashable {
  /// The id of its record.
  var recordID: String
  /// The path of the file.
  var path: String
  /// Its identity when it was completed, and when it was found.
  var identity: FileIdentity

  /// The number of records of one digest that are examined: the files of some may be gone.
  private static let limit = 16

  /// Returns a finished file for a download that starts; `nil` to request the bytes.
  ///
  /// Costs a lookup in an index if the download requires a digest, and an `lstat` for each record that
  /// has it.
  ///
  /// - Parameters:
  ///   - start: The start.
  ///   - tx: The transaction of the start.
  ///   - roots: The folders of the store's roots.
  ///   - refused: The ids of records whose files are not to be used.
  /// - Returns: The file; the first one in the order of the records' ids.
  /// - Throws: `StoreError`.
  static func find(
    for start: Start,
    in tx: borrowing StoreTransaction,
    _ roots: Roots,
    except refused: Set<String>
  ) throws -> Self? {
    guard let digest = start.sharedDigest else { return nil }
    let query = DownloadRecord.where { $0.verifiedDigest == digest.text }
    for record in try tx.fetch(query.limit(limit))
    where record.state == .completed && !refused.contains(record.id) {
      if let file = Self(of: record, roots), start.canCopy(file) { return file }
    }
    return nil
  }

  /// The finished file of a record; `nil` if it is not the one that was completed.
  private init?(of record: DownloadRecord, _ roots: Roots) {
    guard let layout = try? roots.layout(of: record), layout.isBelowRoot,
      let identity = record.fileIdentity, FileIdentity(ofFileAt: layout.finalPath) == identity
    else { return nil }
    self.init(recordID: record.id, path: layout.finalPath, identity: identity)
  }

  init(recordID: String, path: String, identity: FileIdentity) {
    self.recordID = recordID
    self.path = path
    self.identity = identity
  }
}

extension DownloadRecord {
  /// The digest by which a finished file with the same bytes can be found; `nil` if the bytes are to be
  /// requested in any case.
  ///
  /// Different files can be made to have the same MD5 or SHA-1. A refresh asks the server for its
  /// version.
  var sharedDigest: Digest? {
    guard refreshed == nil, let digest = expectedDigest.flatMap({ try? Digest($0) }),
      digest.algorithm == .sha256 || digest.algorithm == .sha512
    else { return nil }
    return digest
  }
}

extension Start {
  /// The digest by which a finished file can be found; `nil` if all bytes are on disk.
  var sharedDigest: Digest? { source == .finalise ? nil : record.sharedDigest }

  /// Whether a file has the size that the download requires, and more bytes than are on disk.
  func canCopy(_ file: EqualFile) -> Bool {
    let size = file.identity.size
    return (record.expected ?? size) == size && record.committed.prefixLength <= size
  }
}
