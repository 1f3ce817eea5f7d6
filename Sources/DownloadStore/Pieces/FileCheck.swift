internal import ObjectStore

/// The contents of a finished file, compared with what is known about them.
///
/// See ``RecordStore/checkFile(of:)``.
public struct FileCheck: Sendable {
  /// What the comparison has shown.
  public enum Finding: String, Sendable, Hashable, CaseIterable {
    /// All pieces, or the whole file, have their digests.
    case correct
    /// Some pieces, or the whole file, have other digests.
    case damaged
    /// The file does not exist.
    case missing
    /// Nothing is known about the contents.
    case unknown
  }

  /// The record.
  public let record: DownloadRecord
  /// The path of the file.
  public let path: String
  /// What the comparison has shown.
  public let finding: Finding
  /// The bytes that are known to be correct, or of which nothing is known.
  package let kept: ByteRanges
  /// The bytes that are known to be damaged.
  package let damaged: ByteRanges
  /// The identity of the file before it was read; `nil` if it is missing.
  package let identity: FileIdentity?
  /// Whether a piece of the file has the digest of the download's piece.
  package let hasCorrectPiece: Bool

  /// The ranges of bytes that are known to be damaged, in order.
  ///
  /// Empty for a file that is damaged because it is longer than the download.
  public var damagedRanges: [Range<Int64>] { damaged.ranges }

  /// Whether the file is the one that the download has finished, possibly changed since.
  ///
  /// That is the file with the recorded inode and size, whose time may have changed, and any file with
  /// a piece of the download. Another file may have the name because the user has moved the finished
  /// one away; an inode alone does not tell, because file systems use its number again.
  public var isRecognized: Bool {
    guard let identity else { return false }
    if hasCorrectPiece { return true }
    guard let own = record.fileIdentity, own != record.foreignFileIdentity else { return false }
    return identity.inode == own.inode && identity.size == own.size
  }
}

extension RecordStore {
  /// Whether the finished file of a download is still the one that was downloaded.
  ///
  /// Compares the size, the inode and the modification time of the file with those at its completion:
  /// a file that was truncated, overwritten, replaced or deleted since is not intact. So is one that
  /// was copied from another disk. Reads no byte: use ``checkFile(of:)`` to compare the contents, for
  /// example of a file that another program may have changed without another time.
  ///
  /// ```swift
  /// if try store.isIntact(record) { return record }
  /// if try store.checkFile(of: record).finding == .correct { return record }
  /// try await store.restart(.matching(record.id))
  /// ```
  ///
  /// - Parameter record: The record.
  /// - Returns: Whether the download is complete and its file unchanged.
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  /// - Complexity: One `lstat`.
  public func isIntact(_ record: DownloadRecord) throws -> Bool {
    guard record.state == .completed else { return false }
    return FileInspection.final(of: record, in: try roots().layout(of: record)) == .ours
  }

  /// Reads the finished file of a completed download, and compares it with the digests of its
  /// pieces, and with the digest of the whole file if there are none, or if it was required after the
  /// pieces were recorded.
  ///
  /// Blocks for one read of the file, or two. Changes nothing; pass the result to ``repairFile(_:)``.
  ///
  /// - Parameter record: The record.
  /// - Returns: What the comparison has shown.
  /// - Throws: ``RecordStoreError`` with `missingRoot`, or with `fileSystem` if the file cannot be
  ///   read or its folder is missing; `StoreError`.
  public func checkFile(of record: DownloadRecord) throws -> FileCheck {
    let layout = try roots().layout(of: record)
    let path = layout.finalPath
    let found = FileIdentity(ofFileAt: path)
    func check(
      _ finding: FileCheck.Finding,
      kept: ByteRanges = ByteRanges(),
      damaged: ByteRanges = ByteRanges(),
      hasCorrectPiece: Bool = false
    ) -> FileCheck {
      FileCheck(
        record: record,
        path: path,
        finding: finding,
        kept: kept,
        damaged: damaged,
        identity: found,
        hasCorrectPiece: hasCorrectPiece
      )
    }
    guard let identity = found else {
      if let problem = layout.folderProblem { throw RecordStoreError(.fileSystem, problem) }
      return check(.missing)
    }
    let pieces =
      record.hasPieceDigests
      ? try objects.read { tx in try tx.find(PieceDigests.self, key: record.id) } : nil
    if let pieces, pieces.count > 0 {
      let report: PieceReport
      do {
        report = try PieceReport(ofFileAt: path, pieces)
      } catch {
        throw RecordStoreError(error, reading: path)
      }
      let kept = report.correct.union(report.unknown)
      // Bytes beyond the end are damage, too, but there is nothing to fetch for them.
      let isCorrect = report.damaged.isEmpty && identity.size == pieces.byteCount
      guard isCorrect else {
        return check(
          .damaged,
          kept: kept,
          damaged: report.damaged,
          hasCorrectPiece: !report.correct.isEmpty
        )
      }
      // The pieces say what the downloaded file was. A digest that was required later decides.
      let isDecided = record.expectedDigest == nil || record.expectedDigest == record.verifiedDigest
      if isDecided || record.expectedDigest.flatMap({ try? Digest($0) }) == nil {
        return check(report.unknown.isEmpty ? .correct : .unknown, kept: kept)
      }
    }
    let whole = ByteRanges(upTo: record.expected ?? identity.size)
    guard let text = record.expectedDigest ?? record.verifiedDigest, let digest = try? Digest(text)
    else { return check(.unknown, kept: whole) }
    let computed: Digest
    do {
      computed = try Digest.ofFile(at: path, digest.algorithm)
    } catch {
      throw RecordStoreError(error, reading: path)
    }
    return computed == digest ? check(.correct, kept: whole) : check(.damaged, damaged: whole)
  }

  /// Queues a completed download again, so that an engine fetches only its damaged bytes.
  ///
  /// The other bytes are copied to the partial file, and synced, before the commit. The finished file
  /// stays until the repaired one replaces it. After a kill the download is still complete, and the
  /// partial file without use is deleted by the next call, or with the record.
  ///
  /// ```swift
  /// let check = try store.checkFile(of: record)
  /// if check.finding == .damaged || check.finding == .missing {
  ///   _ = try store.repairFile(check)
  ///   _ = try await engine.run(until: .idle)
  /// }
  /// ```
  ///
  /// - Parameter check: The result of ``checkFile(of:)``.
  /// - Returns: The record; `nil` if it or the file has changed since the check.
  /// - Throws: ``RecordStoreError`` with `nameTaken` if the file is not the download's
  ///   (``FileCheck/isRecognized``), with `missingRoot`, with `busy` if another process is using the
  ///   partial file, or with `fileSystem`; `StoreError`.
  public func repairFile(_ check: FileCheck) throws -> DownloadRecord? {
    let layout = try roots().layout(of: check.record)
    if check.finding != .missing {
      guard check.isRecognized else {
        throw RecordStoreError(
          .nameTaken,
          "'\(check.path)' is not the downloaded file, and stays: move it away and repair again, or "
            + "restart the download, which then gets another name"
        )
      }
      try PartialCopy.make(layout.partialPath, from: layout.finalPath, copying: check.kept)
    }
    let identity = check.identity
    guard FileIdentity(ofFileAt: layout.finalPath) == identity else { return nil }
    let file = FileIdentity(ofFileAt: layout.partialPath)
    let moment = now()
    return try objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: check.record.url),
        record.id == check.record.id, record.generation == check.record.generation,
        record.state == .completed
      else { return nil }
      try record.apply(
        .fileDamaged(.init(keeping: check.kept, replacing: identity, partial: file)),
        at: moment
      )
      try tx.upsert(record)
      return record
    }
  }
}
