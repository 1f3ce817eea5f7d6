#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The bytes on disk, which change while the state stays.

extension DownloadRecord {
  /// Counts bytes that are synced.
  ///
  /// Progress beyond the largest count so far clears the failures. A smaller one does not: a server
  /// may change the entity with every response, and its failures must not be forgotten each time.
  /// No progress clears the crashes: a server may crash the process after each checkpoint.
  ///
  /// - Parameters:
  ///   - synced: The bytes.
  ///   - damaged: Bytes that do not count any more, because their piece has another digest.
  ///   - total: The size of the complete file, if it is known.
  ///   - entityTag: The entity tag of the bytes.
  ///   - lastModified: The `Last-Modified` field of the bytes.
  ///   - validatorOrigin: The origin that stated them; `nil` for that of the URL.
  ///   - file: The identity of the partial file after the bytes were written; `nil` if it is not
  ///     known.
  ///   - moment: The time of the checkpoint.
  package mutating func checkpoint(
    _ synced: ByteRanges,
    damaged: ByteRanges? = nil,
    total: Int64?,
    entityTag: String?,
    lastModified: String?,
    validatorOrigin: String? = nil,
    file: FileIdentity? = nil,
    at moment: Date
  ) {
    if synced.byteCount > resolvedBytes {
      failedAttempts = 0
      resolvedBytes = synced.byteCount
    }
    // Bytes that the server sends again were synced before.
    var counted = committed.union(synced)
    for range in damaged?.ranges ?? [] { counted.remove(range) }
    count(counted)
    if !counted.isEmpty { notePartial(file) }
    expected = total
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.validatorOrigin = validatorOrigin
    updatedAt = moment
  }

  /// Uncounts all bytes on disk, and forgets the entity that they belong to.
  ///
  /// Only the server that stated a validator, or sent a file that is no web page, stays known: a page
  /// without a validator is not the file.
  package mutating func dropBytes() {
    count(ByteRanges())
    if entityTag != nil || lastModified != nil {
      validatorOrigin = validatorOrigin ?? RecordIdentity.origin(of: url)
    }
    expected = nil
    entityTag = nil
    lastModified = nil
  }

  /// Counts exactly these bytes, in as many ranges as a record stores.
  mutating func count(_ bytes: ByteRanges) {
    let stored = ByteRanges(bytes.ranges.prefix(ByteRanges.storedLimit))
    let unnamed = unnamedFileIdentity
    received = stored.byteCount
    ranges = stored.isPrefix ? nil : stored.encoded
    guard stored.isEmpty else { return }
    notePartial(nil)
    partialIdentity = unnamed
  }

  /// Notes the partial file that has the counted bytes; `nil` if it is not known.
  mutating func notePartial(_ file: FileIdentity?) {
    partialIdentity = file
    partialWrittenAt = file?.modificationDate
  }

  /// Notes the size that the publisher of the file requires, unless the bytes on disk are those of a
  /// file with another size.
  package mutating func requireSize(_ byteCount: Int64) {
    if received == 0 || (expected == nil && committed.end <= byteCount) { expected = byteCount }
  }

  /// Uncounts all bytes on disk, because the server sends another entity from its first byte.
  package mutating func startEntity(
    total: Int64?,
    entityTag: String?,
    lastModified: String?,
    validatorOrigin: String? = nil,
    at moment: Date
  ) {
    count(ByteRanges())
    expected = total
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.validatorOrigin = validatorOrigin
    updatedAt = moment
  }

  /// Uncounts the bytes from an offset on, because they are delivered again.
  package mutating func rollBack(to offset: Int64, at moment: Date) {
    if offset == 0 { dropBytes() } else { count(committed.intersection(ByteRanges(upTo: offset))) }
    updatedAt = moment
  }

  /// Counts exactly some bytes, which were compared with the digests of their pieces.
  ///
  /// - Parameters:
  ///   - correct: The bytes.
  ///   - file: The identity of the partial file before it was read.
  ///   - moment: The time of the decision.
  package mutating func recount(_ correct: ByteRanges, of file: FileIdentity?, at moment: Date) {
    if correct.isEmpty {
      dropBytes()
    } else {
      count(correct)
      notePartial(file)
    }
    updatedAt = moment
  }

  /// Stores resume data, or drops it.
  ///
  /// New resume data states the validator of its bytes. A record without bytes of its own forgets the
  /// one that it has kept since the task was adopted: the task may have begun a new version.
  package mutating func replaceResumeData(with data: Data?) {
    resumeData = data
    guard data != nil, received == 0 else { return }
    entityTag = nil
    lastModified = nil
    validatorOrigin = nil
  }
}
