internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The transfer of a record, and the sink of its first task: judges the response and writes the body
/// to the partial file.
///
/// If the file is split, each further task has a ``TransferPart``, which writes to the same file.
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
    /// The origin of the server that stated the tag and the date; `nil` for that of the record's URL.
    var origin: String?
    /// The digest that the server states.
    var digest: Digest?

    /// The validator; `nil` if the server has stated none.
    var validator: Validator? { Validator(entityTag: entityTag, lastModified: lastModified) }
  }

  struct State {
    var entity: Entity
    var head: ResponseHead?
    /// Which task writes which bytes; the first one has the number zero.
    var claims = ConnectionClaims()
    /// The bytes that each further task has written, by number.
    var fetched: [Int: ByteRanges] = [:]
    /// The bytes on disk that must not count, although the record may count them.
    var distrusted = ByteRanges()
    /// Those of them that were distrusted since the last sync began, which says nothing about them.
    var distrustedSinceSync = ByteRanges()
    /// Whether no checkpoint has uncounted the distrusted bytes yet.
    var hasNewDistrust = false
    /// What shows that a response belongs to the file whose bytes are on disk.
    var proof: RangeProof
    /// Whether the first task is to be repeated without a condition.
    var asksAgain = false
    /// Whether the file has bytes of responses with different validators.
    var isMixed = false
    /// The digests of the pieces; `nil` until the size is known, or if the file has one piece.
    var pieces: PieceTable?
    /// The blocks of pieces whose digests are to be recorded.
    var blocks: BlockHashes?
    /// The number of times that the file has received another version, or none of its bytes.
    var entityCount = 0
    /// Whether the bytes on disk are being dropped for those of another version.
    var isStartingOver = false
    /// The damaged pieces.
    var damage: DamagedPieces?
    /// The bytes that were discarded because their response contradicts itself, since the digests of
    /// their pieces were last forgotten.
    var unrecorded = ByteRanges()
    /// Whether the file has, or may get, gaps.
    var isSplit: Bool
    /// The number of bytes that a background transport holds, including those before the offset.
    var held: Int64 = 0
    var resumeData: Data?
    var finding: TransferResult?
    var hasFinished = false
    var hasProgressed = false
    var hasAskedForCheckpoint = false
    var hasAskedForHeir = false

    /// The number of the entity to which the bytes on disk belong; `nil` while they are dropped.
    var entityNumber: Int? { isStartingOver ? nil : entityCount }

    /// Forgets everything about the bytes of the previous version, whose file is empty now.
    ///
    /// Required digests stay, and all pieces are compared with them again. The size of the new version
    /// may be unknown.
    mutating func beginEntity() {
      isSplit = false
      isMixed = false
      pieces = pieces.flatMap { table in
        table.digests.isRequired ? PieceTable(table.digests, committed: ByteRanges()) : nil
      }
      blocks = nil
      damage = nil
      entityCount += 1
      isStartingOver = false
    }
  }

  let key: TransferKey
  let file: PartialFile
  /// The rate limit of the record, for all connections together.
  private let limiter: RateLimiter
  let offset: Int64
  let usesResumeData: Bool
  /// Whether an earlier process has started the task.
  let isAdopted: Bool
  /// The record when the transfer began, which says what the task of a session continues.
  let record: DownloadRecord
  /// The URL and the file name of the record.
  private let names: [String]
  /// Scheme, host and port of the record's URL.
  let urlOrigin: String
  private let expectedDigest: Digest?
  private let checkpointBytes: Int64
  let preallocation: Preallocation
  let sizeLimit: SizeLimit
  let pieceLength: Int64
  let checks: ResponseChecks
  let now: @Sendable () -> Date
  let rollBack: RollBack
  let naming: FileNaming
  let rename: Rename
  let inbox: EngineInbox
  // Only held to access the fields. The transport calls one method at a time; the engine reads
  // concurrently. Not private, for the extensions in other files.
  let state: Mutex<State>

  init(
    record: DownloadRecord,
    offset: Int64,
    end: Int64? = nil,
    pieces: PieceDigests? = nil,
    proof: RangeProof? = nil,
    usesResumeData: Bool,
    isAdopted: Bool = false,
    file: PartialFile,
    checkpointBytes: Int64,
    preallocation: Preallocation = .none,
    sizeLimit: SizeLimit = SizeLimit(),
    pieceLength: Int64 = PieceDigests.recordedLength,
    checks: ResponseChecks = ResponseChecks(),
    now: @escaping @Sendable () -> Date,
    inbox: EngineInbox,
    rollBack: @escaping RollBack,
    naming: FileNaming,
    rename: @escaping Rename
  ) {
    key = TransferKey(record)
    self.file = file
    limiter = RateLimiter(bytesPerSecond: Self.limit(of: record))
    let isSplit = file.written != ByteRanges(upTo: offset)
    expectedDigest = record.expectedDigest.flatMap { try? Digest($0) }
    self.offset = offset
    self.usesResumeData = usesResumeData
    self.isAdopted = isAdopted
    self.record = record
    names = [record.url, record.filename]
    urlOrigin = RecordIdentity.origin(of: record.url)
    self.checkpointBytes = checkpointBytes
    self.preallocation = preallocation
    self.sizeLimit = sizeLimit
    self.pieceLength = pieceLength
    self.checks = checks
    self.now = now
    self.inbox = inbox
    self.rollBack = rollBack
    self.naming = naming
    self.rename = rename
    state = Mutex(
      State(
        entity: Entity(of: record),
        proof: proof ?? record.resumeProof(with: pieces),
        pieces: pieces.map { PieceTable($0, committed: file.written) },
        isSplit: isSplit
      )
    )
    let claim = PartClaim(ByteRanges(CollectionOfOne(offset..<(end ?? .max))), from: offset)
    state.withLock { $0.claims.open(0, claim) }
  }

  /// The head of the last response.
  var head: ResponseHead? { state.withLock { $0.head } }
  /// The entity, as far as it is known.
  var entity: Entity { state.withLock { $0.entity } }
  /// The number of the entity to which the bytes on disk belong; `nil` while they are dropped.
  var entityNumber: Int? { state.withLock { $0.entityNumber } }
  /// The digest of the whole file: the required one, otherwise the one that the server states.
  var knownDigest: Digest? { expectedDigest ?? entity.digest }
  /// Whether the file, or each of its pieces, must have a digest that does not come from the server.
  var hasRequiredDigest: Bool {
    expectedDigest != nil || state.withLock { $0.pieces?.digests.requiresDigests ?? false }
  }

  /// The origin of the server that stated the validator of the bytes on disk.
  var validatorOrigin: String { entity.origin ?? urlOrigin }

  /// The number of bytes received, in the partial file or held by a background transport.
  var received: Int64 { max(file.byteCount, state.withLock { $0.held }) }
  /// Whether the file has, or may get, gaps.
  var isSplit: Bool { state.withLock { $0.isSplit } }
  /// Whether the file has bytes of responses with different validators, which only a required digest
  /// has shown to be of one file.
  var isMixed: Bool { state.withLock { $0.isMixed } }
  /// Whether the file has bytes that an earlier attempt received.
  var hasEarlierBytes: Bool { record.received > 0 && state.withLock { $0.entityCount == 0 } }
  /// Whether the first task has received bytes.
  var hasProgressed: Bool { state.withLock { $0.hasProgressed } }
  /// The bytes that are missing; `nil` if the size is unknown.
  var missing: ByteRanges? { entity.total.map { file.written.gaps(in: 0..<$0) } }
  /// The result of a transfer whose bytes have all arrived, if some of them were discarded since;
  /// `nil` if the file has all of them.
  ///
  /// Read after the last connection has ended: until then a sink may find that a body is too long.
  var loss: TransferResult? {
    let written = file.written
    // The last pieces of a file of unknown size leave no gap.
    if let damage, !damage.ranges.ranges.allSatisfy(written.contains) { return damage.result }
    guard !(missing?.isEmpty ?? written.isPrefix) else { return nil }
    return .failed(
      DownloadFailure(.badResponse, "bytes of a response that contradicts itself were discarded"),
      retryAfter: nil
    )
  }
  /// Whether the sink or the engine has already determined the result of the transfer.
  var hasFinding: Bool { state.withLock { $0.finding != nil } }
  /// The size of the file that the server states, otherwise the required one; `nil` if there is none.
  var size: Int64? {
    state.withLock { state in
      let required = state.pieces.flatMap { $0.digests.isRequired ? $0.digests.byteCount : nil }
      return state.entity.total ?? required
    }
  }
  /// The resume data that the task has left.
  var resumeData: Data? { state.withLock { $0.resumeData } }

  /// Returns a head without its content coding if the coded form is the file.
  func withoutStoredCoding(_ head: ResponseHead) -> ResponseHead {
    StoredCoding(names: names, hasDigest: hasRequiredDigest).removed(from: head)
  }

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

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    passOn(bytes, while: { true }, to: { receive(part: $0) })
  }

  /// Passes on the bytes of any connection, and waits for the rate limit of the record, which all its
  /// connections share.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, which are divided if there is a limit.
  ///   - isActive: Whether the connection goes on waiting.
  ///   - write: Writes a part of them.
  /// - Returns: Whether the connection continues.
  func passOn(
    _ bytes: Span<UInt8>,
    while isActive: () -> Bool,
    to write: (Span<UInt8>) -> BodyDisposition
  ) -> BodyDisposition {
    var start = 0
    while start < bytes.count {
      let isLimited = limiter.isLimited
      let rest = bytes.extracting(start...)
      let part = isLimited ? rest.extracting(first: RateLimiter.partLength) : rest
      guard write(part) == .proceed else {
        // The other connections pay for them.
        limiter.charge(part.count)
        return .cancel
      }
      // The transport waits for its sink, so the sender slows down.
      limiter.block(for: part.count, while: isActive)
      start += part.count
    }
    return .proceed
  }

  /// Writes the next bytes of a response, or of a file that is copied; does not wait for the rate limit.
  func receive(part bytes: Span<UInt8>) -> BodyDisposition {
    let taken = take(bytes, of: 0)
    let isFirst = state.withLock { state in
      defer { state.hasProgressed = true }
      return !state.hasProgressed
    }
    if isFirst { inbox.post(.progressed(key)) }
    switch taken {
    case .proceed: return .proceed
    // The rest of the body belongs to other connections.
    case .done: return end(.complete)
    case .failed(let failure): return end(.failed(failure, retryAfter: nil))
    // The server sends something else than it says, so none of its bytes can be trusted.
    case .excess(let failure): return end(.startOver(failure))
    }
  }

  /// Writes bytes of any connection; returns the failure.
  func write(_ bytes: Span<UInt8>, at offset: Int64) -> DownloadFailure? {
    if let failure = sizeLimit.failure(ofBytesUpTo: offset + Int64(bytes.count)) { return failure }
    let layout = state.withLock { $0.blocks?.layout }
    do {
      try file.write(bytes, at: offset)
    } catch {
      return error.asDownloadFailure
    }
    if let layout {
      // The bytes are still in the processor's cache.
      let change = BlockHashes.Change(bytes, at: offset, layout)
      state.withLock { $0.blocks?.apply(change) }
    }
    // Bytes that a running sync covers need no other one.
    let isLong = file.writtenSinceSync >= checkpointBytes
    let asks = state.withLock { state in
      let asks = isLong && !state.hasAskedForCheckpoint
      if asks { state.hasAskedForCheckpoint = true }
      return asks
    }
    if asks { inbox.post(.checkpointDue) }
    return nil
  }

  func finish(_ outcome: TaskOutcome) {
    let (isFirst, finding, left, hasStartedOver, head) = state.withLock { state in
      defer { state.hasFinished = true }
      let left = state.claims.left(0, ofSize: state.entity.total)
      return (!state.hasFinished, state.finding, left, state.entityCount > 0, state.head)
    }
    // Only the first call counts, in case a transport reports the end twice.
    guard isFirst else { return }
    var result = TransferResult(
      outcome,
      finding: finding,
      position: left.lowerBound,
      total: left.upperBound
    )
    // A server that answers requests for ranges with no bytes must not empty the file. Whether the
    // file has become empty shows the answer to a request for all of it.
    if result == .complete, hasStartedOver, file.written.isEmpty {
      result = .startOver(ResponseVerdict.emptyRange)
    }
    if result == .complete, file.written.isEmpty, let head,
      RefreshAnswer.isEmpty(head, insteadOf: record)
    {
      result = .failed(RefreshAnswer.noBytes, retryAfter: nil)
    }
    inbox.post(.taskEnded(key, result))
  }

  // MARK: Calls of the engine

  /// Syncs the written bytes, and returns all bytes that are synced.
  ///
  /// Blocks until the disk has finished. Distrusted bytes that were written again and are synced count
  /// again, unless they are distrusted once more while the sync runs.
  func synchronize() throws(PartialFile.Failure) -> ByteRanges {
    state.withLock { state in
      state.hasAskedForCheckpoint = false
      state.distrustedSinceSync = ByteRanges()
    }
    let synced = try file.synchronize()
    state.withLock { state in
      for range in synced.ranges { state.distrusted.remove(range) }
      state.distrusted = state.distrusted.union(state.distrustedSinceSync)
    }
    return synced
  }

  /// Applies the rate limit of the record, which may have changed.
  func limit(as record: DownloadRecord) {
    let limit = Self.limit(of: record)
    if limit != limiter.bytesPerSecond { limiter.bytesPerSecond = limit }
  }

  /// Returns the longest wait for the rate limit, if each of some connections owes one part.
  func longestWait(of connections: Int) -> Duration {
    guard let rate = limiter.bytesPerSecond else { return .zero }
    return .seconds(Double(RateLimiter.partLength) * Double(max(1, connections)) / Double(rate))
  }

  /// Ends the waits for the rate limit, because the transfer is to end.
  func endLimit() {
    limiter.bytesPerSecond = nil
  }

  private static func limit(of record: DownloadRecord) -> Int64? {
    record.bytesPerSecond.map { max(1, $0) }
  }

  /// Notes that the file is downloaded over several connections from now on.
  func noteSplit() {
    state.withLock { state in
      state.isSplit = true
      if let total = state.entity.total { state.claims.limit(to: total) }
    }
  }

  /// Sets the result of the transfer because of its file, unless the sink has already determined
  /// another one.
  func end(with result: TransferResult) {
    state.withLock { $0.finding = $0.finding ?? result }
  }

  /// The damaged pieces of the current version; `nil` if there were none.
  var damage: DamagedPieces? { state.withLock { $0.damage } }

  /// Notes damaged pieces, in addition to earlier ones.
  func note(damage pieces: DamagedPieces) {
    state.withLock { state in
      let known = state.damage?.ranges ?? ByteRanges()
      state.damage = DamagedPieces(
        ranges: known.union(pieces.ranges),
        isRequired: pieces.isRequired
      )
    }
  }

  /// Removes and returns the discarded bytes whose pieces must lose their digests.
  func takeUnrecorded() -> ByteRanges {
    state.withLock { state in
      defer { state.unrecorded = ByteRanges() }
      return state.unrecorded
    }
  }

  /// The digests of the pieces, and the number of the entity that they belong to.
  var pieces: (table: PieceTable, entity: Int)? {
    state.withLock { state in state.pieces.map { ($0, state.entityCount) } }
  }

  /// Removes and returns the hashes of the blocks of a piece that arrived as a whole.
  func takeBlocks(of piece: Range<Int64>) -> [Int64: UInt64] {
    state.withLock { $0.blocks?.take(piece) ?? [:] }
  }

  /// Replaces the digests of the pieces, and returns whether they belong to the current entity.
  func replacePieces(with table: PieceTable, ofEntity entity: Int) -> Bool {
    state.withLock { state in
      guard state.entityNumber == entity else { return false }
      state.pieces = table
      return true
    }
  }

  /// Ends the task, whose result is known.
  func end(_ finding: TransferResult) -> BodyDisposition {
    state.withLock { $0.finding = finding }
    return .cancel
  }
}

extension Transfer.Entity {
  /// The entity of the bytes that a record counts.
  init(of record: DownloadRecord) {
    self.init(
      total: record.expected,
      entityTag: record.entityTag,
      lastModified: record.lastModified,
      origin: record.validatorOrigin
    )
  }
}
