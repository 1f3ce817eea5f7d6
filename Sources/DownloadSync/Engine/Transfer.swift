internal import DownloadStore
internal import Foundation
internal import Synchronization

/// The sink of one task: judges the response and writes the body into the partial file.
///
/// The transport calls it on its own queue; the engine asks it how far it is. What it hears is
/// posted to the engine's inbox with the generation it belongs to.
final class Transfer: TaskSink {
  /// Commits that what is on disk is dropped, before it is.
  ///
  /// Called on the transport's queue. Throws ``RecordChanged`` where the partial file belongs to
  /// another URL or generation of the record by now.
  typealias RollBack = @Sendable (_ head: ResponseHead, _ total: Int64?) throws -> Void

  /// The record of a transfer was removed, restarted or given another URL while the transfer ran.
  struct RecordChanged: Error {}

  /// Commits that the file is called what the server calls it.
  ///
  /// Called on the transport's queue.
  typealias Rename = @Sendable (_ name: String) throws -> Void

  /// What the response said of the entity.
  struct Entity: Sendable, Hashable {
    var total: Int64?
    var entityTag: String?
    var lastModified: String?
  }

  private struct State {
    var entity: Entity
    var head: ResponseHead?
    /// The bytes that the transport keeps to itself so far, those before the offset included.
    var held: Int64 = 0
    var resumeData: Data?
    var finding: TransferResult?
    var hasFinished = false
    var hasProgressed = false
    var hasAskedForCheckpoint = false
  }

  let key: TransferKey
  let file: PartialFile
  /// Of the bytes in the file, if the record said at the start that they must have one.
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
  // Held for some nanoseconds; the transport calls one method at a time, the engine reads.
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

  /// The last response's head.
  var head: ResponseHead? { state.withLock { $0.head } }
  /// What is known of the entity.
  var entity: Entity { state.withLock { $0.entity } }

  /// How many bytes have arrived, here or in what the transport keeps to itself.
  var received: Int64 { max(file.position, state.withLock { $0.held }) }
  /// Whether the sink or the engine has concluded how the transfer ends.
  var hasFinding: Bool { state.withLock { $0.finding != nil } }
  /// What the task has left to go on from.
  var resumeData: Data? { state.withLock { $0.resumeData } }

  // MARK: The transport's calls

  func report(held byteCount: Int64, of total: Int64?) {
    let isFirst = state.withLock { state in
      // The total is what the server says, so the sum may overflow.
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
        // The store must not promise bytes of the old entity while those of the new one come.
        try rollBack(head, total)
        streamedDigest?.seek(to: 0)
        try file.removeAll()
      } catch is RecordChanged {
        // The bytes on disk are what the record counts under its new URL: leave the file alone.
        return end(.cancelled)
      } catch let failure as PartialFile.Failure {
        return end(.failed(failure.asDownloadFailure, retryAfter: nil))
      } catch {
        return end(.failed(DownloadFailure(.fileSystem, "\(error)"), retryAfter: nil))
      }
      adopt(head, total: total, isSameEntity: false)
      return takeName(head)
    case .alreadyComplete:
      return end(.complete)
    case .askAgainFromZero(let failure):
      return end(.startOver(failure))
    case .fail where usesResumeData && (head.status == 412 || head.status == 416):
      // The whole was not asked for: what was is not there any more.
      return end(
        .startOver(
          DownloadFailure(.entityChanged, "the resume data is of no use (status \(head.status))")
        )
      )
    case .fail(let failure, let retryAfter):
      return end(.failed(failure, retryAfter: retryAfter))
    }
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
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
    let isLong = file.unsynced >= checkpointBytes
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
    // A transport that says so twice must not end two downloads.
    guard isFirst else { return }
    let result = TransferResult(
      outcome,
      finding: finding,
      position: file.position,
      total: entity.total
    )
    inbox.post(.taskEnded(key, result))
  }

  // MARK: The engine's calls

  /// Syncs what is written; returns up to where that is.
  ///
  /// Blocks.
  func synchronize() throws(PartialFile.Failure) -> Int64 {
    state.withLock { $0.hasAskedForCheckpoint = false }
    return try file.synchronize()
  }

  /// Makes the transfer end with a failure of its file, whatever the task says at its end.
  func fail(_ failure: PartialFile.Failure) {
    state.withLock { state in
      state.finding = state.finding ?? .failed(failure.asDownloadFailure, retryAfter: nil)
    }
  }

  /// The digest of what is written; of a kind that the record did not ask for when this began, the
  /// file has to be read.
  func digest(_ algorithm: Digest.Algorithm) -> StreamedDigest {
    if let streamedDigest, streamedDigest.algorithm == algorithm { return streamedDigest }
    return StreamedDigest(of: file, algorithm, startWork: startWork)
  }

  // MARK: -

  /// Notes what the head says of the entity.
  ///
  /// What it leaves out is as before if it is the same one.
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

  /// Has the file called what the server calls it, before it is complete.
  private func takeName(_ head: ResponseHead) -> BodyDisposition {
    guard let name = naming.name(forURL: key.url, head) else { return .proceed }
    do {
      try rename(name)
      return .proceed
    } catch {
      return end(.failed(DownloadFailure(.fileSystem, "\(error)"), retryAfter: nil))
    }
  }

  private func end(_ finding: TransferResult) -> BodyDisposition {
    state.withLock { $0.finding = finding }
    return .cancel
  }
}
