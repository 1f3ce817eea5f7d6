internal import DownloadStore

/// The connections of one transfer.
///
/// Owns which connections are open, how many there may be, which servers they use, and the result of
/// the transfer once it is known. Pure: each method notes what has happened, and returns what the
/// engine has to do. What the sinks and the file have done is passed in. ``ConnectionRamp`` decides
/// how many connections there are, ``ConnectionSources`` to which server the next one goes,
/// ``ConnectionPlan`` what it fetches, and ``PartEnd`` what follows the end of one.
struct Connections: Sendable {
  /// An open connection, or one whose request is being prepared.
  private struct Connection: Sendable {
    /// The index of its URL in ``sources``.
    var source = 0
    /// Scheme, host and port of its URL.
    var origin: String
    /// Whether the engine has asked it to end, although the transfer continues.
    var isEnding = false
    var pace: ConnectionPace?
  }

  /// A connection to open.
  struct Opening: Sendable, Hashable {
    var number: Int
    /// The bytes to request.
    var range: Range<Int64>
    /// Whether it takes over what another one would reach only after a long skip.
    var isSpare: Bool
    /// The index of its URL in the sources; zero for that of the first connection.
    var source: Int
    var url: String
    /// Scheme, host and port of its URL.
    var origin: String
    /// What has to show that its bytes belong to the file.
    var proof: RangeProof
  }

  /// What a turn of the loop requires.
  struct Turn: Sendable, Hashable {
    /// The numbers of the connections to end; the others take over their rests.
    var ending: [Int]
    /// Whether further connections may be opened.
    var mayOpen: Bool
  }

  /// A connection that is closed.
  struct Closed: Sendable, Hashable {
    /// The number of the connection; zero for the first one.
    var number: Int
    /// The index of its URL in the sources.
    var source = 0
    /// Whether the engine had asked it to end, although the transfer continues.
    var isReplaced = false
    /// Whether it had received bytes.
    var hasProgressed = true
  }

  /// The end of a connection.
  struct End: Sendable, Hashable {
    var connection: Closed
    var result: TransferResult
    /// Whether the first request is to be repeated without a condition.
    var asksAgain = false
    /// Whether the transfer may continue: the engine has not asked it to end.
    var mayContinue = true
  }

  /// What the engine does after the end of a connection.
  enum Effect: Sendable, Hashable {
    /// Repeat the first request without a condition.
    case askAgain
    /// Do not split the file again in this run.
    case stopSplitting
    case open(Opening)
    /// Ask all connections to end.
    case endAll
    /// The transfer is over, and no connection is left.
    case finish(TransferResult)
  }

  /// The open connections by number; the first one has the number zero.
  private var open: [Int: Connection] = [:]
  private var sources: ConnectionSources
  private(set) var ramp: ConnectionRamp
  /// The result of the transfer, which is over once all connections have ended.
  private(set) var outcome: TransferResult?
  /// Whether a connection has used another URL than the first one.
  private(set) var hasUsedMirrors = false
  /// The number of connections that were opened, except for the first one.
  private var lastNumber = 0
  /// The number of received bytes when a connection was replaced because all had stalled.
  private var replacedAt: Int64?
  /// Whether the response has been asked for further servers.
  private var hasReadLinks = false

  /// Creates the connections of a transfer that has none yet.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - gaps: The number of gaps in its file.
  ///   - split: The limits that the user set.
  ///   - rateLimit: The rate in bytes per second from which on one connection stays alone.
  init(
    of record: DownloadRecord,
    gaps: Int = 0,
    _ split: SplitOptions = SplitOptions(),
    rateLimit: Int64? = nil
  ) {
    sources = ConnectionSources(first: record.source, of: record)
    ramp = ConnectionRamp(
      maximum: split.maximumConnections(of: record),
      gaps: gaps,
      measuringTime: split.measuringTime,
      rateLimit: rateLimit
    )
  }

  // MARK: Reading

  /// Scheme, host and port of the first server.
  var origin: String { sources.all[0].origin }

  /// The number of open connections.
  var openCount: Int { open.count }

  /// The number of open connections to the first server.
  private var ownCount: Int { open.values.count { $0.origin == origin } }

  /// The number of connections to each other server than the first one, by origin.
  var mirrorCounts: [String: Int] {
    open.values.reduce(into: [:]) { counts, connection in
      if connection.origin != origin { counts[connection.origin, default: 0] += 1 }
    }
  }

  /// The number of connections that count against the limits.
  ///
  /// A transfer always has one to its first server, or the right to open one.
  var count: Int { max(1, ownCount) + mirrorCounts.values.reduce(0, +) }

  /// Whether the engine has asked a connection to end, although the transfer continues.
  func isEnding(_ number: Int) -> Bool { open[number]?.isEnding ?? false }

  /// The number of connections that were asked to end.
  var endingCount: Int { open.values.count(where: \.isEnding) }

  /// The connection that was added last, to a server or to any; the others can take over its rest.
  ///
  /// `nil` if the transfer has no other one. The first server takes over the rest of a mirror.
  func last(to origin: String? = nil) -> Int? {
    let further = open.filter { $0.key > 0 && (origin == nil || $0.value.origin == origin) }
    guard let last = further.max(by: { $0.key < $1.key }),
      openCount > 1 || last.value.origin != self.origin
    else { return nil }
    return last.key
  }

  /// Whether another connection may be of use.
  ///
  /// - Parameter hasSpare: Whether a connection would reach some of its bytes only after a long skip.
  /// - Returns: Whether to call ``next(_:)``.
  func wantsNext(hasSpare: Bool) -> Bool {
    openCount > 0 && (openCount < ramp.target || (hasSpare && mayHandOver))
  }

  /// Whether one connection more than the ramp allows may be opened, which takes over the bytes that
  /// another one would reach only after a long skip.
  ///
  /// When it has its response, the other one ends. If the server refuses it, the other one still
  /// delivers all bytes.
  private var mayHandOver: Bool {
    !ramp.hasRefusal && openCount < ramp.limit && openCount <= ramp.target
  }

  // MARK: Notes

  /// Notes that the first connection is open.
  mutating func noteFirst() {
    open[0] = Connection(origin: origin)
  }

  /// Changes the number of connections that the user allows.
  mutating func limit(to maximum: Int) {
    ramp.limit(to: maximum)
  }

  /// Notes the result of a transfer whose connections are to end; the first one counts.
  mutating func noteOutcome(_ result: TransferResult) {
    outcome = outcome ?? result
  }

  /// Notes that the engine asks a connection to end, although the transfer continues.
  ///
  /// - Returns: Whether the caller is to cancel it: it is open, and is not ending already.
  mutating func noteEnding(_ number: Int) -> Bool {
    guard open[number]?.isEnding == false else { return false }
    open[number]?.isEnding = true
    return true
  }

  // MARK: A turn of the loop

  /// Notes the progress of the connections, and chooses those to end.
  ///
  /// A connection that has stalled ends although another one makes progress. If all have stalled, one
  /// of them ends, once until bytes arrive again. The last one also ends if the user has lowered the
  /// limits, or if the last ones have gained nothing.
  mutating func noteTurn(
    _ progress: Progress,
    within limits: ConnectionLimits,
    stallTime: Duration,
    at now: ContinuousClock.Instant
  ) -> Turn {
    ramp.note(progress.received, running: progress.runningCount, at: now)
    for (number, position) in progress.positions where open[number] != nil {
      var pace = open[number]?.pace ?? ConnectionPace(at: position, now)
      pace.note(position, at: now)
      open[number]?.pace = pace
    }
    var ending = stalled(progress, after: stallTime, at: now).filter { noteEnding($0) }
    func end(_ number: Int?) { if let number, noteEnding(number) { ending.append(number) } }
    if limits.areExceeded {
      end(last())
      return Turn(ending: ending, mayOpen: false)
    }
    let origins = [origin] + mirrorCounts.keys.sorted()
    if let origin = origins.first(where: limits.areExceeded) {
      end(last(to: origin))
      return Turn(ending: ending, mayOpen: false)
    }
    // One more is open while it takes over the bytes of another one.
    let allowed = ramp.target + (progress.hasIdle ? 1 : 0)
    if openCount > allowed { end(last()) }
    return Turn(ending: ending, mayOpen: openCount <= allowed)
  }

  private mutating func stalled(
    _ progress: Progress,
    after time: Duration,
    at now: ContinuousClock.Instant
  ) -> [Int] {
    let paces = open.compactMapValues(\.pace)
    let stalled = ConnectionPace.stalled(paces, after: time, at: now)
    guard !stalled.isEmpty, stalled.count == paces.count else { return stalled }
    guard progress.isSplit, replacedAt != progress.received else { return [] }
    replacedAt = progress.received
    return Array(stalled.prefix(1))
  }

  // MARK: Openings and ends

  /// Opens the next connection beside the open ones.
  ///
  /// - Parameter reading: What is known about the file.
  /// - Returns: The connection; `nil` if there is nothing to fetch, or no free connection.
  mutating func next(_ reading: Reading) -> Opening? {
    guard openCount > 0 else { return nil }
    if openCount < ramp.target {
      let minimumLength = ramp.limit > 1 && reading.isSplittable ? reading.minimumLength : nil
      if let next = open(reading, minimumLength: minimumLength) { return next }
    }
    guard mayHandOver, let spare = reading.spare else { return nil }
    return open(reading, minimumLength: nil, takingOver: spare)
  }

  private mutating func open(
    _ reading: Reading,
    minimumLength: Int64?,
    takingOver spare: Range<Int64>? = nil
  ) -> Opening? {
    guard let url = reading.requestURL, let missing = reading.missing else { return nil }
    if !hasReadLinks, let head = reading.head {
      hasReadLinks = true
      sources.add(head.duplicates(of: url))
    }
    let index = sources.next(
      beside: open.values.map(\.source),
      using: reading.usableMirrors
    ) { origin in
      // The connection to the first server counts even while it is not open.
      (origin == self.origin && ownCount == 0) || reading.limits.haveRoom(for: origin)
    }
    guard let index,
      let range = spare ?? reading.nextRange(of: missing, minimumLength: minimumLength)
    else { return nil }
    lastNumber += 1
    let source = sources.all[index]
    open[lastNumber] = Connection(source: index, origin: source.origin)
    if index > 0 { hasUsedMirrors = true }
    return Opening(
      number: lastNumber,
      range: range,
      isSpare: spare != nil,
      source: index,
      url: source.url,
      origin: source.origin,
      proof: reading.proof(fromFirst: index == 0)
    )
  }

  /// Closes a connection whose task has ended, or which gets none.
  mutating func close(_ number: Int) -> Closed {
    // The first one may end before it is open: a file may need no request.
    let connection = open.removeValue(forKey: number) ?? Connection(origin: origin)
    return Closed(number: number, source: connection.source, isReplaced: connection.isEnding)
  }

  /// Decides what follows the end of a connection, which is closed.
  ///
  /// - Parameters:
  ///   - end: The end.
  ///   - reading: What is known about the file after the end; `nil` if it is not split.
  /// - Returns: What the engine has to do, in order.
  mutating func noteEnd(_ end: End, _ reading: Reading?) -> [Effect] {
    let mayContinue = end.mayContinue && outcome == nil
    if end.asksAgain, mayContinue { return [.askAgain] }
    guard let reading else { return [.finish(end.result)] }
    var effects: [Effect] = []
    if mayContinue {
      let next = PartEnd(end, others: openCount, isComplete: reading.isComplete)
      if !next.isSplittable { effects.append(.stopSplitting) }
      if next.isRefused { noteRefusal(of: end.connection.source) }
      switch next {
      case .leaveRest: return effects
      case .startNext:
        if let opening = open(reading, minimumLength: nil) { return effects + [.open(opening)] }
        outcome = end.result
      case .endAll(let result, _):
        outcome = result
        if openCount > 0 { effects.append(.endAll) }
      }
    }
    return openCount > 0 ? effects : effects + [.finish(result(after: end, reading))]
  }

  /// The result of the transfer after its last connection.
  private func result(after end: End, _ reading: Reading) -> TransferResult {
    // A complete file needs no connection, whatever ended the last one.
    if reading.isComplete, outcome?.dropsBytes != true { return .complete }
    return outcome ?? (end.result == .complete ? .cancelled : end.result)
  }

  /// Notes that a server refused a connection: a mirror gets none again, and the first server not as
  /// many.
  private mutating func noteRefusal(of source: Int) {
    if source > 0 {
      sources.refuse(source)
    } else {
      ramp.noteRefusal(running: openCount)
    }
  }
}
