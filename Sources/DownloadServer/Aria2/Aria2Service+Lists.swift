internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

// The methods that list downloads. Their cost follows the answer, not the store: AriaNg asks once a
// second.

extension Aria2Service {
  /// `aria2.tellStatus`.
  func status(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    try status(of: parameters.string(0), live).object(parameters.keys(1))
  }

  /// `aria2.getServers`.
  func servers(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    let status = try status(of: parameters.string(0), live)
    guard status.state == .active else {
      throw Aria2Error("No active download for GID#\(status.record.id)")
    }
    return status.servers
  }

  /// `aria2.getPeers`: HTTP has none.
  func peers(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    _ = try record(parameters.string(0))
    return .array([])
  }

  /// `aria2.tellActive`.
  func active(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    let keys = try parameters.keys(0)
    let running = DownloadRecord.where { $0.state.isIn([.running, .finalizing]) }
    let statuses = try statuses(of: store.records(running.limit(Self.longestQueue)), live)
    return .array(statuses.filter { $0.state == .active }.map { $0.object(keys) })
  }

  /// `aria2.tellWaiting`: the queue in starting order, then the paused downloads.
  func waiting(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    try list(parameters, live) { try waitingRecords(atMost: $0) }
  }

  /// `aria2.tellStopped`: from the download that stopped first to the one that stopped last.
  func stopped(_ parameters: Aria2Parameters, _ live: Live) throws -> JSONValue {
    try list(parameters, live) { _ in try stoppedRecords() }
  }

  /// Returns a part of a list, whose offset may be negative: -1 is the last download, and the order is
  /// reversed then.
  private func list(
    _ parameters: Aria2Parameters,
    _ live: Live,
    _ records: (_ limit: Int) throws -> [DownloadRecord]
  ) throws -> JSONValue {
    let (offset, count) = (try parameters.integer(0), try parameters.integer(1))
    let keys = try parameters.keys(2)
    guard count >= 0 else {
      throw Aria2Error("The integer parameter at 1 has invalid value.")
    }
    let limit = Self.longestQueue
    let needed = offset < 0 ? limit : min(offset, limit) + min(count, limit - min(offset, limit))
    let all = try records(needed)
    let part = ListPart(offset: offset, count: count, of: all.count)
    var chosen = Array(all[part.range])
    if part.isReversed { chosen.reverse() }
    return .array(try statuses(of: chosen, live).map { $0.object(keys) })
  }

  /// Returns the downloads that wait, in starting order, then the held and the paused ones.
  private func waitingRecords(atMost limit: Int) throws -> [DownloadRecord] {
    let engineRuns = engineRuns
    return try store.objects.read { tx in
      var records: [DownloadRecord] = []
      func add(_ found: [DownloadRecord]) { records += found.prefix(limit - records.count) }
      if !engineRuns {
        // Their engine has ended: they continue first.
        let left = DownloadRecord.where {
          $0.state.isIn([.running, .finalizing]) && $0.intent != .cancel
        }
        add(try tx.fetch(left.limit(limit)))
      }
      add(try tx.queuedRecords(limit: limit - records.count))
      let held = DownloadRecord.where { $0.state == .waiting && $0.isHeld == true }
      add(try tx.fetch(held.limit(limit - records.count)))
      let paused = DownloadRecord.where { $0.state == .paused && $0.intent != .cancel }
      add(try tx.fetch(paused.limit(limit - records.count)))
      return records
    }
  }

  /// Returns stopped downloads by the time at which they stopped: of each state those that were added
  /// last, so that an index finds them.
  private func stoppedRecords() throws -> [DownloadRecord] {
    let engineRuns = engineRuns
    let records = try store.objects.read { tx in
      try DownloadState.allCases.flatMap { state in
        let all = DownloadRecord.where { $0.state == state }
        let stopped =
          switch state {
          case .completed, .failedPermanent, .cancelled: all
          case .removed: all.limit(0)
          case .waiting, .running, .paused, .failedRetryable, .finalizing:
            all.where { $0.intent == .cancel }
          }
        return try tx.fetch(stopped.order(by: \.state, .descending).limit(Self.mostStopped))
      }
    }
    let stopped = records.filter { Aria2State(of: $0, engineRuns: engineRuns)?.isStopped == true }
      .sorted { ($0.stoppedAt, $0.id) < ($1.stoppedAt, $1.id) }
    return Array(stopped.suffix(Self.mostStopped))
  }

  /// `aria2.getGlobalStat`.
  func statistics(_ live: Live) throws -> JSONValue {
    let counts = try live.counts ?? countedStates()
    func count(_ words: String...) -> Int { words.reduce(0) { $0 + (counts[$1] ?? 0) } }
    func text(_ number: Int) -> JSONValue { .string(String(number)) }
    let stopped = count("completed", "failed", "cancelled")
    return [
      "downloadSpeed": .string(String(Int64(clamping: live.bytesPerSecond))),
      "numActive": text(count("running", "finalizing")),
      "numStopped": text(min(stopped, Self.mostStopped)),
      "numStoppedTotal": text(stopped),
      "numWaiting": text(count("waiting", "retrying", "paused")),
      "uploadSpeed": .string("0"),
    ]
  }

  private func countedStates() throws -> [String: Int] {
    let engineRuns = engineRuns
    return try store.objects.read { tx in
      var counts: [String: Int] = [:]
      for word in DownloadState.words {
        for state in DownloadState.states(named: word, engineRuns: engineRuns) {
          counts[word, default: 0] += try tx.count(DownloadRecord.where { $0.state == state })
        }
      }
      return counts
    }
  }

  // MARK: The order of the queue

  /// `aria2.changePosition`: gives a download the priority that moves it there.
  func changePosition(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    let (offset, origin) = (try parameters.position(1), try parameters.string(2))
    guard state(of: record)?.isStopped == false, state(of: record) != .active else {
      throw Aria2Error("GID#\(record.id) not found in the waiting queue.")
    }
    let queue = try queue()
    let target: Int
    switch origin {
    case "POS_SET": target = offset
    case "POS_CUR": target = (queue.firstIndex { $0.url == record.url } ?? queue.count) + offset
    case "POS_END": target = queue.count - 1 + offset
    default: throw Aria2Error("Illegal argument.")
    }
    return .integer(Int64(try move(record, to: target, in: queue)))
  }

  /// Moves a download to a position of the queue; returns the position.
  func move(_ record: DownloadRecord, to position: Int) throws -> Int {
    try move(record, to: position, in: queue())
  }

  private func move(
    _ record: DownloadRecord,
    to position: Int,
    in queue: [QueueMove.Entry]
  ) throws -> Int {
    let moved = QueueMove.Entry(url: record.url, priority: record.priority)
    guard queue.count < Self.longestQueue || position < queue.count else {
      throw Aria2Error("only the first \(Self.longestQueue) waiting downloads can be reordered")
    }
    guard let move = QueueMove(of: moved, in: queue, to: position) else {
      throw Aria2Error("no priority is left for this position")
    }
    try store.setPriorities(move.priorities.map { ($0.url, $0.priority) })
    return move.position
  }

  private func queue() throws -> [QueueMove.Entry] {
    try store.objects.read { tx in
      try tx.queuedRecords(limit: Self.longestQueue)
        .map { QueueMove.Entry(url: $0.url, priority: $0.priority) }
    }
  }
}

/// The part of a list that a client asks for with an offset and a number.
struct ListPart: Sendable, Hashable {
  /// The positions, from the front.
  var range: Range<Int>
  /// Whether the part is returned from its end to its start.
  var isReversed: Bool

  /// Decides about a part.
  ///
  /// - Parameters:
  ///   - offset: The position of the first element, or one from the end if it is negative.
  ///   - count: The number of elements, not negative.
  ///   - total: The length of the list.
  init(offset: Int, count: Int, of total: Int) {
    isReversed = offset < 0
    if offset < 0 {
      let end = offset == .min ? 0 : max(0, total + offset + 1)
      range = max(0, end - min(count, end))..<end
    } else {
      let start = min(offset, total)
      range = start..<(start + min(count, total - start))
    }
  }
}

extension DownloadRecord {
  /// The time at which a download stopped.
  fileprivate var stoppedAt: Double {
    let time = state == .completed ? completedAt : attempts.last?.at
    return (state == .cancelled ? updatedAt : time ?? updatedAt).timeIntervalSince1970
  }
}
