internal import SystemInterface

/// Compares finished files with digests that a changed checksum file lists.
///
/// Files are read between two tries of a transaction, because they may be large.
struct ListedFiles {
  /// Files must be read before the transaction can be decided.
  struct Unread: Error {}

  private var digests: [FinishedFileDigests.File: Digest?] = [:]
  private var missing: [FinishedFileDigests.File] = []

  /// Whether the finished file of a refresh has another digest than the listed one, although none of this
  /// algorithm was known.
  ///
  /// An unchanged answer of the server would then keep a file that is not the listed one. A file that
  /// cannot be read counts as the listed one: the answer of the server decides, as without a list.
  ///
  /// - Parameters:
  ///   - record: The record, whose refresh has begun.
  ///   - digest: The listed digest.
  ///   - roots: The store's roots.
  /// - Returns: Whether it is another file; `false` if it is to be read first.
  mutating func isOther(_ record: DownloadRecord, than digest: Digest, _ roots: Roots) -> Bool {
    guard let version = record.earlierVersion, let identity = record.replacedFileIdentity,
      version.verifiedDigest.flatMap({ try? Digest($0) })?.algorithm != digest.algorithm
    else { return false }
    let file = FinishedFileDigests.File(
      path: roots.possibleLayout(of: record).finalPath,
      identity: identity,
      algorithm: digest.algorithm
    )
    guard let known = digests[file] else {
      missing.append(file)
      return false
    }
    return known.map { $0 != digest } ?? false
  }

  /// Throws if files must be read first.
  ///
  /// - Throws: ``Unread``; the transaction is to be tried again after ``read()``.
  func requireAll() throws(Unread) {
    guard missing.isEmpty else { throw Unread() }
  }

  /// Reads the files that are to be compared, and blocks until all are read.
  mutating func read() {
    for file in missing {
      // Another file may be there by now, or none; the next try examines it again.
      digests.updateValue(try? Digest.ofFile(at: file.path, file.algorithm), forKey: file)
    }
    missing = []
  }
}
