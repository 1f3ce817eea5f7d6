internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The sink of an additional connection of a transfer: writes a range of the file.
///
/// ``Transfer`` is the sink of the first connection. A part never changes what is known about the
/// entity: a response that does not continue the same entity at the requested offset ends the part
/// before its first byte.
final class TransferPart: TaskSink {
  private struct State {
    var claim: PartClaim
    var finding: TransferResult?
    var hasProgressed = false
    var hasFinished = false
  }

  /// The number of the connection; above zero.
  let number: Int
  let transfer: Transfer
  /// The index of its URL in the transfer's ``ConnectionSources``.
  let source: Int
  /// Scheme, host and port of its URL.
  let origin: String
  private let proof: RangeProof
  private let range: Range<Int64>
  private let now: @Sendable () -> Date
  private let inbox: EngineInbox
  // Only held to access the fields. The transport calls one method at a time; the engine reads the
  // progress and shortens the claim concurrently.
  private let state: Mutex<State>

  /// Creates the sink of a request for a range.
  init(
    _ number: Int,
    of transfer: Transfer,
    range: Range<Int64>,
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
    self.range = range
    self.now = now
    self.inbox = inbox
    state = Mutex(State(claim: PartClaim(from: range.lowerBound, to: range.upperBound)))
  }

  /// Whether its URL is another one than that of the first connection.
  var isOfMirror: Bool { proof.isOfMirror }
  /// The range that is left to this part.
  var claim: PartClaim { state.withLock { $0.claim } }
  /// Whether the part has received bytes.
  var hasProgressed: Bool { state.withLock { $0.hasProgressed } }

  /// Gives the bytes from an offset on to another connection, and returns whether that was possible.
  func shorten(to offset: Int64) -> Bool { state.withLock { $0.claim.shorten(to: offset) } }

  /// Takes back a range that another connection did not fetch, and returns whether that was possible.
  func takeBack(_ range: Range<Int64>) -> Bool {
    state.withLock { $0.claim.takeBack(range, ofSize: self.range.upperBound) }
  }

  // MARK: Calls of the transport

  func receive(_ head: ResponseHead) -> BodyDisposition {
    let entity = transfer.entity
    guard
      let result = TransferResult(
        refusing: head,
        ofRange: range,
        total: entity.total,
        digest: transfer.knownDigest,
        proof: proof,
        now: now()
      )
    else { return .proceed }
    return end(result)
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    var start = 0
    while start < bytes.count {
      let piece = state.withLock { $0.claim.reserve(bytes.count - start) }
      // The rest belongs to another connection, or the server sends more than was requested.
      guard !piece.isEmpty else { return end(.complete) }
      if let failure = transfer.write(
        bytes.extracting(start..<start + piece.count),
        at: piece.lowerBound
      ) {
        return end(.failed(failure, retryAfter: nil))
      }
      let isFirst = state.withLock { state in
        state.claim.noteWritten()
        defer { state.hasProgressed = true }
        return !state.hasProgressed
      }
      if isFirst { inbox.post(.progressed(transfer.key)) }
      start += piece.count
    }
    // A claim that was shortened ends before the body does.
    return claim.isFull && claim.end != range.upperBound ? end(.complete) : .proceed
  }

  func finish(_ outcome: TaskOutcome) {
    let (isFirst, finding, claim) = state.withLock { state in
      defer { state.hasFinished = true }
      return (!state.hasFinished, state.finding, state.claim)
    }
    guard isFirst else { return }
    let result = TransferResult(
      outcome,
      finding: finding,
      position: claim.written,
      total: claim.end
    )
    inbox.post(.partEnded(transfer.key, number, result))
  }

  private func end(_ finding: TransferResult) -> BodyDisposition {
    state.withLock { $0.finding = $0.finding ?? finding }
    return .cancel
  }
}
