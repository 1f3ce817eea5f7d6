/// The digests of finished files that were read to decide whether they are the requested ones.
struct FinishedFileDigests: Sendable {
  /// A file whose digest is needed.
  struct File: Sendable, Hashable {
    var path: String
    var identity: FileIdentity
    var algorithm: Digest.Algorithm
  }

  /// Digests that must be computed before the decision.
  struct Missing: Error {
    var files: [File]
  }

  private var digests: [File: Digest] = [:]

  /// The digest of a file, if it was read.
  subscript(file: File) -> Digest? { digests[file] }

  /// Reads a file.
  ///
  /// - Throws: ``RecordStoreError`` with `fileSystem`.
  mutating func read(_ file: File) throws {
    do {
      digests[file] = try Digest.ofFile(at: file.path, file.algorithm)
    } catch {
      throw RecordStoreError(error, reading: file.path)
    }
  }
}
