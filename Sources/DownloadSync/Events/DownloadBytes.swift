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
/// The sequence ends after the last byte of a completed download. It waits while the download is paused, or
/// while no engine runs it, and it does not start one.
public struct DownloadBytes: AsyncSequence, Sendable {
  /// The next bytes, at least one.
  public typealias Element = Data

  let store: RecordStore
  let name: String
  let offset: Int64
  /// Whether to wait for bytes that are not on disk; otherwise the sequence ends before the first one.
  package var waits = true

  /// Starts reading.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, name: name, offset: offset, waits: waits)
  }

  /// Reads the bytes.
  public struct Iterator: AsyncIteratorProtocol {
    /// The maximum length of an element in bytes.
    private static let longestElement: Int64 = 1 << 18

    private let store: RecordStore
    private let name: String
    private let waits: Bool
    private var given: Range<Int64>
    private var version: Validator?
    private var source: Source?
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

    fileprivate init(store: RecordStore, name: String, offset: Int64, waits: Bool) {
      (self.store, self.name, self.waits) = (store, name, waits)
      given = offset..<offset
    }

    /// Waits for the next bytes; `nil` at the end.
    ///
    /// - Throws: `DownloadFailure` if the download has failed permanently, with `entityChanged` if the
    ///   server's file has changed after some bytes were given out, or with `digestMismatch` at the end;
    ///   ``EngineError`` with `cancelled` or `fileMissing`; `RecordStoreError` with `unknownRecord` or
    ///   `ambiguousID` at the first call, or with `fileSystem`; `StoreError`; `CancellationError`.
    public mutating func next() async throws -> Data? {
      var source = try await openedSource()
      defer { self.source = source }
      while true {
        try Task.checkCancellation()
        let record = try await record(source.id)
        switch ByteStep(record, given: given, version: version) {
        case .read(let end):
          if let record, let bytes = try await bytes(upTo: end, of: record, source) {
            return note(bytes, of: record)
          }
        case .wait:
          guard waits else { return nil }
        case .end:
          try checkDigest(source.digest)
          return nil
        case .changed: throw change(of: record)
        case .failed(let failure): throw failure
        case .cancelled: throw EngineError(.cancelled, "the download was cancelled or removed")
        }
        guard try await source.changes.next() != nil else { throw CancellationError() }
      }
    }

    /// Why the bytes that were given out are not those of the file.
    private func change(of record: DownloadRecord?) -> DownloadFailure {
      // The engine drops the bytes of a file with a wrong digest.
      if let last = record?.attempts.last?.failure, last.code == .digestMismatch { return last }
      return DownloadFailure(
        .entityChanged,
        "the server's file has changed after its first \(given.upperBound) bytes were read"
      )
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
      // The bytes before the offset were not read.
      if given.upperBound == 0 { hasher = digest.map { DigestHasher($0.algorithm) } }
      let id = record.id
      // From here on no commit is missed: the record is read again after each change.
      var changes = store.objects.observe(DownloadRecord.where { $0.id == id }).makeAsyncIterator()
      _ = try await changes.next()
      return Source(
        id: id,
        digest: digest,
        pieces: pieces.flatMap { $0.requiresDigests ? $0 : nil },
        changes: changes
      )
    }

    private func record(_ id: String) async throws -> DownloadRecord? {
      try await store.objects.read { tx in try tx.first(DownloadRecord.where { $0.id == id }) }
    }

    /// Reads the next bytes before an offset; `nil` if they are not there, or are not those of the record
    /// any more.
    private mutating func bytes(
      upTo end: Int64,
      of record: DownloadRecord,
      _ source: Source
    ) async throws -> Data? {
      let layout = try store.roots().layout(of: record)
      let isComplete = record.state == .completed
      if isComplete, try !store.isIntact(record) {
        throw EngineError(.fileMissing, "the file is missing or was changed: \(layout.finalPath)")
      }
      let path = isComplete ? layout.finalPath : layout.partialPath
      var range = given.upperBound..<Swift.min(end, given.upperBound + Self.longestElement)
      if let pieces = source.pieces {
        guard let piece = try await checkedPiece(of: pieces, before: end, at: path) else {
          guard !isComplete else {
            throw DownloadFailure(.pieceMismatch, "a piece of \(path) does not have its digest")
          }
          return nil
        }
        range = range.clamped(to: piece)
      }
      let bytes = try await store.inBackground { [range] in try Self.read(range, of: path) }
      // Between the two reads of the record, another version may have replaced the file.
      guard let after = try await self.record(source.id) else { return nil }
      guard let bytes else {
        // No commit follows if another program has truncated the finished file.
        guard !isComplete || after.state != .completed || after.fileIdentity != record.fileIdentity
        else {
          throw EngineError(.fileMissing, "the file was truncated: \(layout.finalPath)")
        }
        return nil
      }
      switch ByteStep(after, given: given, version: version ?? Validator(of: record)) {
      case .read(let end) where end >= range.upperBound: return bytes
      default: return nil
      }
    }

    /// The piece of the next byte, if it is on disk and has its digest.
    private mutating func checkedPiece(
      of pieces: PieceDigests,
      before end: Int64,
      at path: String
    ) async throws -> Range<Int64>? {
      let position = given.upperBound
      guard position < pieces.byteCount else { return nil }
      let number = Int(position / pieces.pieceLength)
      let range = pieces.range(of: number)
      if lastPiece == number { return range }
      guard range.upperBound <= end else { return nil }
      let isCorrect = try await store.inBackground {
        var hasher = pieces.hasher
        var start = range.lowerBound
        while start < range.upperBound {
          let next = Swift.min(range.upperBound, start + Int64(PieceHasher.blockLength))
          guard let block = try Self.read(start..<next, of: path) else { return false }
          hasher.update(block.span)
          start = next
        }
        return pieces.finding(hasher.digest, of: number) == .correct
      }
      if isCorrect { lastPiece = number }
      return isCorrect ? range : nil
    }

    private mutating func note(_ bytes: Data, of record: DownloadRecord) -> Data {
      if given.isEmpty { version = Validator(of: record) }
      given = given.lowerBound..<given.upperBound + Int64(bytes.count)
      hasher?.update(bytes.span)
      return bytes
    }

    private func checkDigest(_ digest: Digest?) throws {
      guard let hasher, let digest, hasher.digest != digest else { return }
      throw DownloadFailure(
        .digestMismatch,
        "the bytes that were read do not have the digest \(digest.text)"
      )
    }

    /// Reads a range of a file; `nil` if the file does not exist or has not all of the bytes.
    private static func read(_ range: Range<Int64>, of path: String) throws -> Data? {
      let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        if errno == ENOENT { return nil }
        throw RecordStoreError(.fileSystem, "opening \(path): \(systemErrorText())")
      }
      defer { close(descriptor) }
      let count = Int(range.upperBound - range.lowerBound)
      let bytes = SystemInterface.bytes(
        ofFile: descriptor,
        at: Int(range.lowerBound),
        count: count
      )
      return bytes.count == count ? Data(bytes) : nil
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
    return DownloadBytes(store: self, name: name, offset: offset)
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
