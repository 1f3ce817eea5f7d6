internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The sink of an additional connection of a transfer: writes a range of the file.
///
/// ``Transfer`` is the sink of the first connection. A part never changes what is known about the
/// entity: a response that does not continue the same entity at the requested offset ends the part
/// before its first byte.
final class TransferPart: RefusableSink {
  private struct State {
    var finding: TransferResult?
    var hasProgressed = false
    var hasFinished = false
    /// Whether the engine has asked the connection to end, so that it waits for no rate limit.
    var isEnding = false
  }

  /// The number of the connection; above zero.
  let number: Int
  let transfer: Transfer
  /// The index of its URL in the transfer's ``ConnectionSources``.
  let source: Int
  /// Scheme, host and port of its URL.
  let origin: String
  private let proof: RangeProof
  /// The origin that stated the validator of the bytes on disk when the range was requested.
  let validatorOrigin: String
  private let range: Range<Int64>
  private let now: @Sendable () -> Date
  private let inbox: EngineInbox
  // Only held to access the fields. The transport calls one method at a time; the engine reads the
  // progress concurrently.
  private let state = Mutex(State())

  /// Creates the sink of a request for a range.
  init(
    _ number: Int,
    of transfer: Transfer,
    range: Range<Int64>,
    isSpare: Bool = false,
    source: Int = 0,
    origin: String = "",
    proof: RangeProof,
    now: @escaping @Sendable () -> Date,
    inbox: EngineInbox
  ) {
    self.number = number
    self.transfer = transfer
    self.source = source
    self.origin = origin
    self.proof = proof
    validatorOrigin = transfer.validatorOrigin
    self.range = range
    self.now = now
    self.inbox = inbox
    transfer.request(range, for: number, isSpare: isSpare)
  }

  /// Whether its URL is another one than that of the first connection.
  var isOfMirror: Bool { source > 0 }
  /// Whether the part has received bytes.
  var hasProgressed: Bool { state.withLock { $0.hasProgressed } }

  // MARK: Calls of the transport

  func receive(_ head: ResponseHead) -> BodyDisposition {
    let entity = transfer.entity
    // A redirect may lead to another server than that of the first connection, like a mirror.
    let isElsewhere = head.origin.map { $0 != validatorOrigin } ?? false
    guard
      let result = TransferResult(
        refusing: transfer.withoutStoredCoding(head),
        ofRange: range,
        total: entity.total,
        digest: transfer.knownDigest,
        proof: proof.proof(for: head, validatorOrigin: validatorOrigin),
        isOfMirror: isOfMirror || isElsewhere,
        now: now()
      )
    else {
      if let failure = transfer.checks.failure(of: head, for: transfer.record) {
        return self.end(.failed(failure, retryAfter: nil))
      }
      let end = head.contentRange?.range.map { $0.upperBound + 1 } ?? range.upperBound
      // The other connections may have fetched the range in the meantime.
      return transfer.accept(number, head, range.lowerBound..<end) ? .proceed : self.end(.complete)
    }
    return end(result)
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    transfer.passOn(
      bytes,
      while: { !state.withLock { $0.isEnding } },
      to: { receive(part: $0) }
    )
  }

  /// Writes the next bytes of the response; does not wait for the rate limit.
  private func receive(part bytes: Span<UInt8>) -> BodyDisposition {
    let taken = transfer.take(bytes, of: number)
    let isFirst = state.withLock { state in
      defer { state.hasProgressed = true }
      return !state.hasProgressed
    }
    if isFirst { inbox.post(.progressed(transfer.key)) }
    switch taken {
    case .proceed: return .proceed
    // The rest belongs to other connections.
    case .done: return end(.complete)
    case .failed(let failure): return end(.failed(failure, retryAfter: nil))
    case .excess(let failure):
      transfer.distrust(number)
      return end(.failed(DownloadFailure(.badResponse, failure.message), retryAfter: nil))
    }
  }

  func finish(_ outcome: TaskOutcome) {
    let (isFirst, finding) = state.withLock { state in
      defer { state.hasFinished = true }
      return (!state.hasFinished, state.finding)
    }
    guard isFirst else { return }
    let left = transfer.left(number)
    let result = TransferResult(
      outcome,
      finding: finding,
      position: left.lowerBound,
      total: left.upperBound
    )
    inbox.post(.partEnded(transfer.key, number, result))
  }

  /// Notes the failure of a request that was not sent.
  func refuse(_ failure: DownloadFailure) {
    _ = end(.failed(failure, retryAfter: nil))
  }

  /// Ends the wait for the rate limit, because the connection is to end.
  func endLimit() {
    state.withLock { $0.isEnding = true }
  }

  private func end(_ finding: TransferResult) -> BodyDisposition {
    state.withLock { $0.finding = $0.finding ?? finding }
    return .cancel
  }
}
