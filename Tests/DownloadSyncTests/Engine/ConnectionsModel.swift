import DownloadStore
import Foundation

@testable import DownloadSync

/// A file of a few bytes whose connections end in every way, with what ``Connections`` must not do.
struct ConnectionsModel {
  /// How a connection ends.
  enum Ending: CaseIterable {
    /// It has written all of its bytes.
    case complete
    /// It has written half of its bytes, and breaks.
    case broken
    /// The server answers with an error.
    case refused
    /// The server has another version of the file.
    case changed
    /// The file cannot be written.
    case unwritable
    case cancelled
  }

  enum Move: Hashable {
    case turn
    case end(Int, Ending)
    /// The user pauses the download.
    case stop
  }

  static let size: Int64 = 8
  private let limits: ConcurrencyLimits
  private(set) var connections: Connections
  /// The bytes that each open connection is to write.
  private var claims: [Int: Range<Int64>] = [0: 0..<Self.size]
  private var sources: [Int: Int] = [0: 0]
  private var missing = ByteRanges(upTo: Self.size)
  private var trust = ServerTrust.Level.full
  private let begin = ContinuousClock.now
  private var seconds = 0
  private var refused: Set<Int> = []
  private var isStopped = false
  private var isEndingAll = false
  private(set) var finished: TransferResult?
  private(set) var problems: [String] = []

  init(mirrors: [String], _ limits: ConcurrencyLimits, maximumConnections: Int) {
    self.limits = limits
    var split = SplitOptions(maximumConnections: maximumConnections)
    split.measuringTime = .zero
    connections = Connections(of: .sample(mirrors: mirrors), split)
    connections.noteFirst()
  }

  /// The moves that are possible now.
  var moves: [Move] {
    guard finished == nil else { return [] }
    let ends = claims.keys.sorted().flatMap { number in
      // The system cancels no task by itself here.
      Ending.allCases.filter { isEndingAll || $0 != .cancelled }.map { Move.end(number, $0) }
    }
    return (isEndingAll ? [] : [.turn, .stop]) + ends
  }

  mutating func perform(_ move: Move) {
    switch move {
    case .turn: turn()
    case .stop: (isStopped, isEndingAll) = (true, true)
    case .end(let number, let ending): end(number, ending)
    }
    if finished == nil, claims.isEmpty { problems.append("no connection, and no end") }
    if connections.openCount != claims.count { problems.append("wrong count") }
  }

  private mutating func turn() {
    seconds += 1
    let progress = Connections.Progress(
      received: Self.size - missing.byteCount,
      isSplit: true,
      runningCount: claims.count,
      positions: claims.mapValues(\.lowerBound),
      hasIdle: false
    )
    _ = connections.noteTurn(
      progress,
      within: ConnectionLimits(limits, beside: [connections]),
      stallTime: .seconds(1_000),
      at: begin.advanced(by: .seconds(seconds))
    )
    while connections.wantsNext(hasSpare: false), let opening = connections.next(reading) {
      open(opening)
    }
  }

  private var reading: Connections.Reading {
    Connections.Reading(
      claims: claims.sorted { $0.key < $1.key }.map {
        ConnectionPlan.Claim(number: $0, range: $1, reserved: $1.lowerBound)
      },
      missing: missing,
      requestURL: "https://example.com/a",
      hasRequiredDigest: true,
      minimumLength: 2,
      trust: trust,
      limits: ConnectionLimits(limits, beside: [connections])
    )
  }

  private mutating func open(_ opening: Connections.Opening) {
    let (number, range) = (opening.number, opening.range)
    if isStopped || isEndingAll || finished != nil { problems.append("opened after the end") }
    if sources[number] != nil { problems.append("number \(number) again") }
    if refused.contains(opening.source) { problems.append("refused source \(opening.source)") }
    if range.isEmpty || !missing.gaps(in: range).isEmpty { problems.append("\(range) is written") }
    for (other, claim) in claims where claim.overlaps(range) {
      if claim.upperBound != range.upperBound { problems.append("\(range) splits \(claim)") }
      claims[other] = claim.lowerBound..<range.lowerBound
    }
    claims[number] = range
    sources[number] = opening.source
    let use = ConnectionLimits(limits, beside: [connections])
    if use.areExceeded || use.areExceeded(to: opening.origin) { problems.append("too many") }
  }

  private mutating func end(_ number: Int, _ ending: Ending) {
    guard let claim = claims.removeValue(forKey: number) else { return }
    let result: TransferResult
    switch ending {
    case .complete:
      missing.remove(claim)
      result = .complete
    case .broken:
      missing.remove(claim.lowerBound..<claim.lowerBound + Int64(claim.count + 1) / 2)
      result = .failed(DownloadFailure(.connectionLost, ""), retryAfter: nil)
    case .refused: result = .failed(DownloadFailure(.rejected, ""), retryAfter: nil)
    case .changed: result = .startOver(DownloadFailure(.entityChanged, ""))
    case .unwritable: result = .failed(DownloadFailure(.fileSystem, ""), retryAfter: nil)
    case .cancelled: result = .cancelled
    }
    let source = sources[number] ?? 0
    if source > 0, ending == .refused || ending == .changed { refused.insert(source) }
    var closed = connections.close(number)
    closed.hasProgressed = ending == .complete || ending == .broken
    let end = Connections.End(connection: closed, result: result, mayContinue: !isStopped)
    for effect in connections.noteEnd(end, reading) {
      switch effect {
      case .askAgain: problems.append("asked again")
      case .stopSplitting: trust = .oneServer
      case .open(let opening): open(opening)
      case .endAll:
        if claims.isEmpty { problems.append("nothing to end") }
        isEndingAll = true
      case .finish(let result): finish(result)
      }
    }
  }

  private mutating func finish(_ result: TransferResult) {
    if finished != nil { problems.append("finished twice") }
    if !claims.isEmpty { problems.append("finished beside a connection") }
    let dropsBytes = connections.outcome?.dropsBytes ?? false
    if (result == .complete) != (missing.isEmpty && !dropsBytes) {
      problems.append("\(result) with \(missing.byteCount) missing bytes")
    }
    if dropsBytes, !result.dropsBytes { problems.append("\(result) after another version") }
    finished = result
  }
}
