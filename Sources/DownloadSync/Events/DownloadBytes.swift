public import DownloadStore
public import Foundation
internal import ObjectStore
internal import SystemInterface

/// The bytes of a download, in order, while they arrive.
///
/// For a decompressor, a hasher or a pipe that need not wait for the whole file. The engine may run in this
/// or in another process, over one connection or several, and some bytes may have been on disk before.
/// The bytes are read from the file, so a slow reader delays nothing and costs no memory, and a fast one
/// waits.
///
/// ```swift
/// for try await chunk in store.bytes(of: "https://example.com/layer.tar.gz") {
///   FileHandle.standardOutput.write(chunk)
/// }
/// ```
///
/// Only bytes of a checkpoint are given out (``EngineOptions/checkpointInterval``): the same bytes follow
/// after a kill or a power cut. So a reader that remembers how many it has processed may begin there again,
/// with an offset. Pieces with a required digest are compared before they are given out. A required
/// digest of the whole file is compared at the end, if reading began with the first byte: what is made of
/// the bytes before that is not verified.
///
/// All bytes are of one version of the file. If the download begins again, the sequence throws an error,
/// also if it was slow and sees the record only after the next version has passed its position: it
/// compares the validator and the size. Without a validator, or with a required digest if reading began with
/// the first byte, it compares the partial file. An engine that continues bytes whatever their validator
/// (with a required digest) or without one (``EngineOptions/continuesUnvalidated``) may change to another
/// version of the same size, which only the digest shows. A sequence that begins at an offset does not know
/// the version of the bytes before it.
///
/// The sequence ends after the last byte of a completed download. It waits while the download is paused, or
/// while no engine runs it, and it does not start one. If bytes that the record counts are not in the
/// partial file, and no engine runs the download, it throws an error instead of waiting: another program
/// has deleted the file, or its volume is not mounted.
public struct DownloadBytes: AsyncSequence, Sendable {
  /// The next bytes, at least one.
  public typealias Element = Data

  let store: RecordStore
  let name: String
  /// The bytes that a previous sequence has given out, or the offset alone.
  package var given: GivenBytes
  /// Whether to wait for bytes that are not on disk; otherwise the sequence ends before the first one.
  package var waits = true
  /// Whether the caller runs the download, so that the sequence waits for bytes that are lost.
  package var isAwaited = false

  /// Starts reading.
  public func makeAsyncIterator() -> Iterator {
    Iterator(self)
  }

  /// Reads the bytes.
  public struct Iterator: AsyncIteratorProtocol {
    /// The maximum length of an element in bytes.
    private static let longestElement: Int64 = 1 << 18

    private let store: RecordStore
    private let name: String
    private let waits: Bool
    private let isAwaited: Bool
    /// The bytes that were given out.
    package private(set) var given: GivenBytes
    private var source: Source?
    /// The changes of the store and the ends of engines, once bytes were missing.
    private var wakes: FollowWakes?
    private var hasher: DigestHasher?
    /// The last piece that had its digest.
    private var lastPiece: Int?

    /// The download and the changes of its record.
    private struct Source {
      let id: String
      let digest: Digest?
      let pieces: PieceDigests?
      var changes: ResultChanges<DownloadRecord>.AsyncIterator
    }

    /// What the file has for the reader.
    private enum Found {
      case bytes(Data, GivenBytes)
      /// The record has changed since it was read.
      case changed
      /// Not all bytes of the next piece have arrived.
      case incomplete
      /// The file does not have the bytes that the record counts.
      case lost(any Error)
    }

    fileprivate init(_ bytes: DownloadBytes) {
      (store, name, waits, isAwaited) = (bytes.store, bytes.name, bytes.waits, bytes.isAwaited)
      given = bytes.given
    }

    /// Waits for the next bytes; `nil` at the end.
    ///
    /// - Throws: `DownloadFailure` if the download has failed permanently, with `entityChanged` if the
    ///   server's file has changed after some bytes were given out, or the download began again, with
    ///   `fileInUse` if another program has changed or deleted the partial file since, with
    ///   `digestMismatch` at the end, or with `pieceMismatch` if a piece on disk is damaged and no engine
    ///   runs the download; ``EngineError`` with `cancelled`, or with `fileMissing` if the finished file,
    ///   or the partial file of a download that no engine runs, is missing; `RecordStoreError` with
    ///   `unknownRecord` or `ambiguousID` at the first call, or with `fileSystem`; `StoreError`;
    ///   `CancellationError`.
    public mutating func next() async throws -> Data? {
      var source = try await openedSource()
      defer { self.source = source }
      while true {
        try Task.checkCancellation()
        let record = try await record(source.id)
        switch ByteStep(record, given: given) {
        case .read(let end):
          guard let record else { continue }
          switch try await find(upTo: end, of: record, source) {
          case .bytes(let bytes, let given):
            self.given = given
            hasher?.update(bytes.span)
            return bytes
          case .changed: continue
          case .incomplete: guard waits else { return nil }
          case .lost(let error):
            try await awaitRepair(of: record, orThrow: error)
            continue
          }
        case .wait:
          guard waits else { return nil }
        case .end:
          try checkDigest(source.digest)
          return nil
        case .changed: throw lossOfGiven(record)
        case .failed(let failure): throw failure
        case .cancelled: throw EngineError(.cancelled, "the download was cancelled or removed")
        }
        guard try await source.changes.next() != nil else { throw CancellationError() }
      }
    }

    /// Why the bytes that were given out are not those of the file any more.
    private func lossOfGiven(_ record: DownloadRecord?) -> DownloadFailure {
      let after = "after its first \(given.range.upperBound) bytes were read"
      let seen = given.record
      let isNew = record?.attempts.last != seen?.attempts.last
      let failure = isNew ? record?.attempts.last?.failure : nil
      // The engine drops the bytes of a file with a wrong digest.
      if let failure, failure.code == .digestMismatch { return failure }
      if failure?.code == .entityChanged || record.map({ given.isContradicted(by: $0) }) == true {
        return DownloadFailure(.entityChanged, "the server's file has changed \(after)")
      }
      // Within an attempt, only the checkpoint of a file that another program has changed drops bytes;
      // the end of the attempt follows.
      let isCheckpoint =
        !isNew && record?.state == .running && record?.generation == seen?.generation
      if failure?.code == .fileInUse || isCheckpoint {
        return DownloadFailure(
          .fileInUse,
          "another program has changed or deleted the partial file \(after)"
        )
      }
      return DownloadFailure(
        .entityChanged,
        "the download began again from its first byte \(after)"
      )
    }

    /// Waits until an engine may have repaired or replaced a file without the bytes that its record
    /// counts.
    ///
    /// - Throws: The given error if no engine runs the download.
    private mutating func awaitRepair(
      of record: DownloadRecord,
      orThrow error: any Error
    ) async throws {
      if waits, wakes == nil {
        // What happened before the watch began has no notification, so the caller looks once more.
        wakes = FollowWakes(store)
        return
      }
      // In this order: an engine that has ended since may have completed the download.
      let isRun = waits && (isAwaited || isRun(record))
      guard try await self.record(record.id) == record else { return }
      guard isRun else { throw error }
      await wakes?.next()
    }

    /// Whether an engine runs the download, or is going to without a command.
    private func isRun(_ record: DownloadRecord) -> Bool {
      let path = store.path
      if WaiterFolder.names(in: path)
        .contains(where: { WaiterFolder.ids(inFile: $0, in: path)?.contains(record.id) == true })
      {
        return true
      }
      return record.state.isDownloading
        ? EngineLock.holder(storePath: path) != nil
        : record.mayStart && EngineLock.holderForAll(storePath: path) != nil
    }

    /// The download, from the first call on.
    private mutating func openedSource() async throws -> Source {
      if let source { return source }
      let (store, name) = (store, name)
      let (record, pieces) = try await store.inBackground {
        let record = try store.record(matching: name)
        let pieces =
          record.hasPieceDigests
          ? try store.objects.read { tx in try tx.find(PieceDigests.self, key: record.id) } : nil
        return (record, pieces)
      }
      let digest = record.expectedDigest.flatMap { try? Digest($0) }
      let required = pieces.flatMap { $0.requiresDigests ? $0 : nil }
      // The bytes before the offset were not read.
      if given.range.upperBound == 0 { hasher = digest.map { DigestHasher($0.algorithm) } }
      // Only a reader that compares the bytes itself may disregard another validator.
      given.hasRequiredDigest = hasher != nil || required != nil
      let id = record.id
      // From here on no commit is missed: the record is read again after each change.
      var changes = store.objects.observe(DownloadRecord.where { $0.id == id }).makeAsyncIterator()
      _ = try await changes.next()
      return Source(
        id: id,
        digest: digest,
        pieces: required,
        changes: changes
      )
    }

    private func record(_ id: String) async throws -> DownloadRecord? {
      try await store.objects.read { tx in try tx.first(DownloadRecord.where { $0.id == id }) }
    }

    /// Reads the next bytes before an offset.
    private mutating func find(
      upTo end: Int64,
      of record: DownloadRecord,
      _ source: Source
    ) async throws -> Found {
      let layout = try store.roots().layout(of: record)
      let isComplete = record.state == .completed
      if isComplete, try !store.isIntact(record) {
        let path = layout.finalPath
        let isThere = FileIdentity(ofFileAt: path) != nil
        throw EngineError(
          .fileMissing,
          isThere
            ? "the file was changed after the download: \(path)"
            : layout.folderProblem ?? "the file is missing: \(path)"
        )
      }
      let path = isComplete ? layout.finalPath : layout.partialPath
      let position = given.range.upperBound
      var range = position..<Swift.min(end, position + Self.longestElement)
      if let pieces = source.pieces {
        switch try await checkedPiece(of: pieces, before: end, at: path) {
        case .correct(let piece): range = range.clamped(to: piece)
        case .incomplete where !isComplete: return .incomplete
        case .unreadable where !isComplete: return .lost(Self.loss(of: record, layout))
        case .incomplete, .unreadable, .damaged:
          let failure = DownloadFailure(
            .pieceMismatch,
            "a piece of \(path) does not have its digest"
          )
          guard isComplete else { return .lost(failure) }
          throw failure
        }
      }
      let (bytes, file) = try await store.inBackground { [range] in
        let file = try OpenFile(at: path)
        return (file?.bytes(in: range), file)
      }
      // Between the two reads of the record, another version may have replaced the file.
      guard let after = try await self.record(source.id) else { return .changed }
      guard let bytes else {
        guard isComplete else {
          return after == record ? .lost(Self.loss(of: record, layout)) : .changed
        }
        // No commit follows if another program has truncated the finished file.
        guard after.state != .completed || after.fileIdentity != record.fileIdentity else {
          throw EngineError(.fileMissing, "the file was truncated: \(layout.finalPath)")
        }
        return .changed
      }
      var given = given
      given.append(upTo: range.upperBound, of: record, in: file)
      switch ByteStep(after, given: given) {
      case .read, .wait, .end: return .bytes(bytes, given)
      case .changed, .failed, .cancelled: return .changed
      }
    }

    /// The error for counted bytes that the partial file does not have.
    private static func loss(of record: DownloadRecord, _ layout: FileLayout) -> EngineError {
      let bytes = "\(record.received) bytes of \(record.filename)"
      if let problem = layout.folderProblem {
        return EngineError(
          .fileMissing,
          "\(problem); with it \(bytes) are missing: mount its volume or move it back"
        )
      }
      return EngineError(
        .fileMissing,
        "\(layout.partialPath) is missing or incomplete, and with it \(bytes)"
      )
    }

    /// The state of the piece of the next byte.
    private enum CheckedPiece {
      case correct(Range<Int64>)
      /// Not all of its bytes have arrived.
      case incomplete
      /// The file does not have its bytes, although they are counted.
      case unreadable
      case damaged
    }

    /// Compares the piece of the next byte with its digest.
    private mutating func checkedPiece(
      of pieces: PieceDigests,
      before end: Int64,
      at path: String
    ) async throws -> CheckedPiece {
      let position = given.range.upperBound
      guard position < pieces.byteCount else { return .incomplete }
      let number = Int(position / pieces.pieceLength)
      let range = pieces.range(of: number)
      if lastPiece == number { return .correct(range) }
      guard range.upperBound <= end else { return .incomplete }
      let isCorrect = try await store.inBackground { () -> Bool? in
        var hasher = pieces.hasher
        var start = range.lowerBound
        while start < range.upperBound {
          let next = Swift.min(range.upperBound, start + Int64(PieceHasher.blockLength))
          guard let block = try OpenFile(at: path)?.bytes(in: start..<next) else { return nil }
          hasher.update(block.span)
          start = next
        }
        return pieces.finding(hasher.digest, of: number) == .correct
      }
      guard let isCorrect else { return .unreadable }
      guard isCorrect else { return .damaged }
      lastPiece = number
      return .correct(range)
    }

    private func checkDigest(_ digest: Digest?) throws {
      guard let hasher, let digest, hasher.digest != digest else { return }
      throw DownloadFailure(
        .digestMismatch,
        "the bytes that were read do not have the digest \(digest.text)"
      )
    }
  }
}

extension RecordStore {
  /// Returns the bytes of a download while they arrive.
  ///
  /// ```swift
  /// try await store.add([DownloadRequest(url: url)])
  /// async let run = engine.run(until: .idle)
  /// for try await chunk in store.bytes(of: url) { FileHandle.standardOutput.write(chunk) }
  /// _ = try await run
  /// ```
  ///
  /// - Parameters:
  ///   - name: The URL, the key, the id, a unique id prefix or the unique file name of the download.
  ///   - offset: The offset of the first byte, at least zero.
  /// - Returns: A sequence that ends after the last byte; see ``DownloadBytes``.
  public func bytes(of name: String, from offset: Int64 = 0) -> DownloadBytes {
    precondition(offset >= 0, "the offset \(offset) is negative")
    return DownloadBytes(store: self, name: name, given: GivenBytes(from: offset))
  }
}

extension DownloadHandle {
  /// The bytes of the download while they arrive.
  ///
  /// - Parameter offset: The offset of the first byte, at least zero.
  /// - Returns: A sequence that ends after the last byte; see ``DownloadBytes``.
  public func bytes(from offset: Int64 = 0) -> DownloadBytes {
    engine.store.bytes(of: recordID ?? url, from: offset)
  }
}
