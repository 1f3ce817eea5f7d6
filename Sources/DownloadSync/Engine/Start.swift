internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// What happens to a download that the queue has chosen to start.
///
/// Pure: decided from the record as it is in the transaction of the start.
enum StartDecision: Sendable {
  /// Nothing: the record has changed so that it may not start, or the transfer of its previous URL is
  /// still ending. The end of that transfer enqueues it.
  case ignore
  /// The download returns to the queue: it requests another host by now, which has limits of its own,
  /// or must not start yet.
  case requeue(DownloadRecord)
  /// The attempt fails: the root of the file is unknown, or the folder with its bytes is missing.
  case fail(DownloadRecord, DownloadFailure)
  /// The partial file is read before the download starts.
  case check(Reconciliation, Scheduler.Candidate)
  /// The record needs no request, such as one whose file already has its final name but whose folder
  /// could not be synced. The decision is executed as at launch.
  case execute(Reconciliation)
  case start(Start)
  /// A transfer with the same required digest is running: the download waits for its file.
  case wait(DownloadRecord, digest: String)

  /// The record that was decided about; `nil` if it is ignored.
  var record: DownloadRecord? {
    switch self {
    case .ignore: nil
    case .requeue(let record), .fail(let record, _), .wait(let record, _): record
    case .check(let found, _), .execute(let found): found.record
    case .start(let start): start.record
    }
  }

  /// Decides about a candidate.
  ///
  /// - Parameters:
  ///   - candidate: The candidate.
  ///   - record: The record with its URL; `nil` if there is none.
  ///   - transferred: The ids of the records that have a transfer.
  ///   - moment: The time of the start.
  ///   - inspect: Examines the files of the record; a failure if they cannot be found.
  init(
    about candidate: Scheduler.Candidate,
    _ record: DownloadRecord?,
    beside transferred: Set<String>,
    at moment: Date,
    inspect: (DownloadRecord) -> Result<Reconciliation, DownloadFailure>
  ) {
    guard let record, record.mayStart, !transferred.contains(record.id) else {
      self = .ignore
      return
    }
    guard RecordIdentity.origin(of: record.source) == candidate.origin, record.isDue(at: moment)
    else {
      self = .requeue(record)
      return
    }
    let found: Reconciliation
    switch inspect(record) {
    case .success(let inspected): found = inspected
    case .failure(let failure):
      self = .fail(record, failure)
      return
    }
    if found.effects.partial == .check {
      self = .check(found, candidate)
    } else if let plan = found.effects.plan {
      self = .start(Start(found, candidate, plan))
    } else {
      self = .execute(found)
    }
  }
}

/// A download to start: decided and stored in the commit, started after it.
struct Start: Sendable {
  private(set) var record: DownloadRecord
  let layout: FileLayout
  /// The identity of the partial file whose bytes continue; `nil` if it could not be examined.
  let partialIdentity: FileIdentity?
  let candidate: Scheduler.Candidate
  /// Where the next byte comes from.
  let source: TransferPlan.Source
  /// The committed bytes that the plan drops.
  let loss: Reconciliation.Loss?
  private let effects: ReconcileEffects
  private let lacksEarlierVersion: Bool
  private let replaced: FileIdentity?
  private(set) var headers: RequestHeaders?
  /// The digests of the pieces that the store has.
  private(set) var pieces: PieceDigests?
  /// The finished file whose bytes are copied; `nil` to request them.
  private(set) var equalFile: EqualFile?

  init(_ found: Reconciliation, _ candidate: Scheduler.Candidate, _ plan: TransferPlan) {
    record = found.record
    layout = found.layout
    partialIdentity = found.partialIdentity
    self.candidate = candidate
    source = plan.source
    loss = found.loss
    effects = found.effects
    lacksEarlierVersion = found.lacksEarlierVersion
    replaced = found.replaced
  }

  /// Begins the attempt: drops the bytes that it does not continue from, and starts a generation.
  ///
  /// - Parameters:
  ///   - takesResumeData: Whether a background transport makes the request.
  ///   - moment: The time of the start.
  /// - Throws: The error of an illegal event.
  mutating func begin(takesResumeData: Bool, at moment: Date) throws {
    // Resume data covers the whole file: the received bytes are in a file of the system, and none
    // of them in the partial file.
    let usesBytes = !effects.rollsBack && !(source == .resumeData && record.received > 0)
    ResumeDataChange(effects.resumeData, left: nil).apply(to: &record)
    // The task of a background transport delivers the rest of the file from one offset on. Without
    // the size, the gap at the end has no length.
    if !record.committed.isPrefix, takesResumeData || record.expected == nil {
      record.rollBack(to: record.committed.prefixLength, at: moment)
    }
    try record.apply(
      .started(
        keepingBytes: usesBytes,
        lacksEarlierVersion: lacksEarlierVersion,
        replacing: replaced
      ),
      at: moment
    )
  }

  /// Takes the missing bytes from a finished file with the required digest.
  ///
  /// One copy replaces the requests for the gaps of a file, so the bytes after the first gap are
  /// dropped.
  mutating func copy(_ file: EqualFile, at moment: Date) {
    equalFile = file
    if !record.committed.isPrefix {
      record.rollBack(to: record.committed.prefixLength, at: moment)
    }
    record.requireSize(file.identity.size)
  }

  /// Stores the record that has begun, and reads its details.
  ///
  /// - Parameter tx: The transaction of the start.
  /// - Throws: `StoreError`.
  mutating func store(in tx: inout StoreTransaction) throws {
    pieces = record.hasPieceDigests ? try tx.find(PieceDigests.self, key: record.id) : nil
    if let pieces, pieces.isRequired { record.requireSize(pieces.byteCount) }
    if record.received == 0, pieces?.isRequired == false, record.refreshed?.hasPieceDigests == true
    {
      // They are those of the finished file, which may stay.
      pieces = nil
    } else if record.received == 0, pieces?.isRequired == false {
      // Recorded digests are those of bytes that do not count any more.
      try tx.delete(PieceDigests.self, key: record.id)
      record.hasPieceDigests = false
      pieces = nil
    }
    try tx.upsert(record)
    headers = record.hasHeaders ? try tx.find(RequestHeaders.self, key: record.id) : nil
  }

  /// The bytes that the first request asks for; the end is `nil` for that of the file.
  var range: (offset: Int64, end: Int64?) {
    let kept = record.committed
    let start = kept.prefixLength
    let limit = max(start, record.expected ?? .max)
    let gap = kept.gaps(in: start..<limit).ranges.first ?? start..<limit
    return (gap.lowerBound, gap.upperBound < kept.end ? gap.upperBound : nil)
  }

  /// What has to show that the response belongs to the file.
  ///
  /// - Parameter trust: How far the servers of the download are trusted.
  /// - Returns: The proof.
  func proof(_ trust: ServerTrust.Level) -> RangeProof {
    record.resumeProof(with: pieces, trustsDigest: trust < .equalValidators)
  }

  /// Returns the first request.
  ///
  /// - Parameter proof: What has to show that the response belongs to the file.
  /// - Returns: The request; `nil` if the file is complete and needs none.
  func request(proving proof: RangeProof) -> TaskRequest? {
    guard source != .finalise else { return nil }
    let own = RecordIdentity.origin(of: record.url)
    var request = TaskRequest(
      url: record.source,
      recordID: record.id,
      offset: range.offset,
      end: range.end,
      validator: record.committed.isEmpty ? nil : proof.ifRange,
      validatorOrigin: record.validatorOrigin ?? own,
      headers: headers?.fields(sentTo: record.source) ?? [],
      credentialURL: headers?.origin ?? record.url,
      resumeData: source == .resumeData ? record.resumeData : nil,
      allowsCellular: record.allowsCellular,
      prefersBackground: record.prefersBackground
    )
    if record.committed.isEmpty, let version = record.earlierVersion {
      request.ask(forNewerThan: version, of: own)
    }
    return request
  }
}
