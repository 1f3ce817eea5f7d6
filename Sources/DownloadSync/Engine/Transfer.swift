internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The sink of one task: judges the response and writes the body to the partial file.
///
/// The transport calls the sink on its own queue, and the engine reads the progress. The sink posts
/// events to the engine's inbox with the key of the transfer.
final class Transfer: TaskSink {
  /// Commits that the bytes on disk no longer count, before they are deleted.
  ///
  /// Called on the transport's queue. Throws ``RecordChanged`` if the partial file now belongs to
  /// another URL or generation of the record.
  typealias RollBack = @Sendable (_ head: ResponseHead, _ total: Int64?) throws -> Void

  /// The record of a transfer was removed, restarted or given another URL while the transfer ran.
  struct RecordChanged: Error {}

  /// Commits the file name that the response suggests.
  ///
  /// Called on the transport's queue.
  typealias Rename = @Sendable (_ name: String) throws -> Void

  /// The properties of the entity, as far as responses have stated them.
  struct Entity: Sendable, Hashable {
    var total: Int64?
    var entityTag: String?
    var lastModified: String?
  }

  private struct State {
    var entity: Entity
    var head: ResponseHead?
    /// The number of bytes that a background transport holds, including those before the offset.
    var held: Int64 = 0
    var resumeData: Data?
    var finding: TransferResult?
    var hasFinished = false
    var hasProgressed = false
    var hasAskedForCheckpoint = false
  }

  let key: TransferKey
  let file: PartialFile
  /// The rate limit of the record.
  private let limiter: RateLimiter
  /// The digest of the bytes in the file; `nil` if the record required none at the start.
  private let streamedDigest: StreamedDigest?
  private let offset: Int64
  private let usesResumeData: Bool
  private let validator: Validator?
  private let checkpointBytes: Int64
  private let now: @Sendable () -> Date
  private let rollBack: RollBack
  private let naming: FileNaming
  private let rename: Rename
  private let inbox: EngineInbox
  private let startWork: StreamedDigest.StartWork
  // Only held to access the fields. The transport calls one method at a time; the engine reads
  // concurrently.
  private let state: Mutex<State>

  init(
    record: DownloadRecord,
    offset: Int64,
    usesResumeData: Bool,
    file: PartialFile,
    checkpointBytes: Int64,
    now: @escaping @Sendable () -> Date,
    inbox: EngineInbox,
    startWork: @escaping StreamedDigest.StartWork,
    rollBack: @escaping RollBack,
    naming: FileNaming,
    rename: @escaping Rename
  ) {
    key = TransferKey(record)
    self.file = file
    limiter = RateLimiter(bytesPerSecond: Self.limit(of: record))
    streamedDigest = record.expectedDigest.flatMap { try? Digest($0) }
      .map { StreamedDigest(of: file, $0.algorithm, startWork: startWork) }
    self.offset = offset
    self.usesResumeData = usesResumeData
    validator = Validator(of: record)
    self.checkpointBytes = checkpointBytes
    self.now = now
    self.inbox = inbox
    self.startWork = startWork
    self.rollBack = rollBack
    self.naming = naming
    self.rename = rename
    state = Mutex(
      State(
        entity: Entity(
          total: record.expected,
          entityTag: record.entityTag,
          lastModified: record.lastModified
        )
      )
    )
  }

  /// The head of the last response.
  var head: ResponseHead? { state.withLock { $0.head } }
  /// The entity, as far as it is known.
  var entity: Entity { state.withLock { $0.entity } }

  /// The number of bytes received, in the partial file or held by a background transport.
  var received: Int64 { max(file.position, state.withLock { $0.held }) }
  /// Whether the sink or the engine has already determined the result of the transfer.
  var hasFinding: Bool { state.withLock { $0.finding != nil } }
  /// The resume data that the task has left.
  var resumeData: Data? { state.withLock { $0.resumeData } }

  // MARK: Calls of the transport

  func report(held byteCount: Int64, of total: Int64?) {
    let isFirst = state.withLock { state in
      // A server states the total, so the sum may overflow.
      state.held = Int64(clamping: Int128(offset) + Int128(byteCount))
      if let total { state.entity.total = Int64(clamping: Int128(offset) + Int128(total)) }
      defer { state.hasProgressed = true }
      return !state.hasProgressed
    }
    if isFirst { inbox.post(.progressed(key)) }
  }

  func receive(resumeData: Data) {
    state.withLock { $0.resumeData = resumeData }
  }

  func receive(_ head: ResponseHead) -> BodyDisposition {
    state.withLock { $0.head = head }
    let verdict = ResponseVerdict(
      head,
      offset: offset,
      expected: entity.total,
      validator: validator,
      now: now()
    )
    switch verdict {
    case .write(let offset, let total):
      adopt(head, total: total, isSameEntity: self.offset > 0)
      streamedDigest?.seek(to: offset)
      file.seek(to: offset)
      return takeName(head)
    case .startOver(let total):
      do {
        // The store must not count bytes of the old entity while the file receives the new one.
        try rollBack(head, total)
        streamedDigest?.seek(to: 0)
        try file.removeAll()
      } catch is RecordChanged {
        // The record counts the bytes on disk under its new URL: leave the file alone.
        return end(.cancelled)
      } catch let failure as PartialFile.Failure {
        return end(.failed(failure.asDownloadFailure, retryAfter: nil))
      } catch {
        return end(.failed(Self.failure(ofStore: error), retryAfter: nil))
      }
      adopt(head, total: total, isSameEntity: false)
      return takeName(head)
    case .alreadyComplete:
      return end(.complete)
    case .askAgainFromZero(let failure):
      return end(.startOver(failure))
    case .fail where usesResumeData && (head.status == 412 || head.status == 416):
      // The resume data, not the download, is at fault: the server no longer has the entity that it
      // continues.
      return end(
        .startOver(
          DownloadFailure(.entityChanged, "the resume data is not usable (status \(head.status))")
        )
      )
    case .fail(let failure, let retryAfter):
      return end(.failed(failure, retryAfter: retryAfter))
    }
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    var start = 0
    while start < bytes.count {
      let isLimited = limiter.bytesPerSecond != nil
      let rest = bytes.extracting(start...)
      let part = isLimited ? rest.extracting(first: RateLimiter.partLength) : rest
      guard receive(part: part) == .proceed else { return .cancel }
      // The transport waits for its sink, so the sender slows down.
      limiter.block(for: part.count) { true }
      start += part.count
    }
    return .proceed
  }

  private func receive(part bytes: Span<UInt8>) -> BodyDisposition {
    if let total = entity.total, file.position + Int64(bytes.count) > total {
      return end(
        .failed(
          DownloadFailure(.wrongLength, "the body is longer than \(total) bytes"),
          retryAfter: nil
        )
      )
    }
    do {
      try file.write(bytes)
      streamedDigest?.append(bytes)
    } catch {
      return end(.failed(error.asDownloadFailure, retryAfter: nil))
    }
    // Bytes that a running sync covers need no other one.
    let isLong = file.writtenSinceSync >= checkpointBytes
    let (isFirst, asks) = state.withLock { state in
      let isFirst = !state.hasProgressed
      state.hasProgressed = true
      let asks = isLong && !state.hasAskedForCheckpoint
      if asks { state.hasAskedForCheckpoint = true }
      return (isFirst, asks)
    }
    if isFirst { inbox.post(.progressed(key)) }
    if asks { inbox.post(.checkpointDue) }
    return .proceed
  }

  func finish(_ outcome: TaskOutcome) {
    let (isFirst, finding, entity) = state.withLock { state in
      defer { state.hasFinished = true }
      return (!state.hasFinished, state.finding, state.entity)
    }
    // Only the first call counts, in case a transport reports the end twice.
    guard isFirst else { return }
    let result = TransferResult(
      outcome,
      finding: finding,
      position: file.position,
      total: entity.total
    )
    inbox.post(.taskEnded(key, result))
  }

  // MARK: Calls of the engine

  /// Syncs the written bytes, and returns the offset up to which the file is synced.
  ///
  /// Blocks until the disk has finished.
  func synchronize() throws(PartialFile.Failure) -> Int64 {
    state.withLock { $0.hasAskedForCheckpoint = false }
    return try file.synchronize()
  }

  /// Applies the rate limit of the record, which may have changed.
  func limit(as record: DownloadRecord) {
    let limit = Self.limit(of: record)
    if limit != limiter.bytesPerSecond { limiter.bytesPerSecond = limit }
  }

  /// Ends the wait for the rate limit, because the transfer is to end.
  func endLimit() {
    limiter.bytesPerSecond = nil
  }

  private static func limit(of record: DownloadRecord) -> Int64? {
    record.bytesPerSecond.map { max(1, $0) }
  }

  /// Makes the transfer fail because of its file, unless the sink has already determined another
  /// result.
  func fail(_ failure: PartialFile.Failure) {
    state.withLock { state in
      state.finding = state.finding ?? .failed(failure.asDownloadFailure, retryAfter: nil)
    }
  }

  /// Returns the digest of the written bytes.
  ///
  /// If the record required another algorithm at the start, or none, the file is read from the
  /// beginning.
  func digest(_ algorithm: Digest.Algorithm) -> StreamedDigest {
    if let streamedDigest, streamedDigest.algorithm == algorithm { return streamedDigest }
    return StreamedDigest(of: file, algorithm, startWork: startWork)
  }

  // MARK: Details

  /// Updates the entity from the head of a response.
  ///
  /// If the entity is the same as before, header fields that the response omits keep their values.
  private func adopt(_ head: ResponseHead, total: Int64?, isSameEntity: Bool) {
    state.withLock { state in
      let known = isSameEntity ? state.entity : Entity()
      state.entity = Entity(
        total: total,
        entityTag: head["ETag"] ?? known.entityTag,
        lastModified: head["Last-Modified"] ?? known.lastModified
      )
    }
  }

  /// Commits the file name that the response suggests, before the first byte of the body.
  private func takeName(_ head: ResponseHead) -> BodyDisposition {
    guard let name = naming.name(forURL: key.url, head) else { return .proceed }
    do {
      try rename(name)
      return .proceed
    } catch {
      return end(.failed(Self.failure(ofStore: error), retryAfter: nil))
    }
  }

  /// The failure of an attempt whose commit failed.
  ///
  /// A full disk of the store fails no attempt: the engine returns the download to the queue, and ends
  /// the run if it cannot commit that either.
  private static func failure(ofStore error: any Error) -> DownloadFailure {
    let isDiskFull = (error as? StoreError)?.code == .diskFull
    return DownloadFailure(isDiskFull ? .diskFull : .fileSystem, "\(error)")
  }

  private func end(_ finding: TransferResult) -> BodyDisposition {
    state.withLock { $0.finding = finding }
    return .cancel
  }
}
