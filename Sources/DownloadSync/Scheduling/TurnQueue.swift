/// The downloads that wait, in the order of their turns.
///
/// Those of one host and one volume stand in a lane of their own, so that a host without a free slot,
/// or a volume that is full, is passed over as a whole. What leaves the middle of a lane is struck
/// out when it comes to the front.
struct TurnQueue: Sendable {
  /// A place in the order.
  struct Turn: Comparable, Sendable {
    var startsAtOnce: Bool
    var priority: Int32
    var order: Int
    /// Tells one coming of a download from the next.
    var ticket: Int

    fileprivate init(_ candidate: Scheduler.Candidate, _ ticket: Int) {
      startsAtOnce = candidate.startsAtOnce
      priority = candidate.priority
      order = candidate.order
      self.ticket = ticket
    }

    static func == (left: Self, right: Self) -> Bool { left.ticket == right.ticket }

    static func < (left: Self, right: Self) -> Bool {
      if left.startsAtOnce != right.startsAtOnce { return left.startsAtOnce }
      if left.priority != right.priority { return left.priority > right.priority }
      if left.order != right.order { return left.order < right.order }
      return left.ticket < right.ticket
    }
  }

  /// The first of a lane.
  struct Head: Comparable, Sendable {
    fileprivate var turn: Turn
    fileprivate var lane: Int

    static func < (left: Self, right: Self) -> Bool { left.turn < right.turn }
  }

  private struct LaneKey: Hashable, Sendable {
    var origin: String
    var volume: UInt64
  }

  private struct Lane: Sendable {
    var turns = BinaryHeap<Turn>()
    var volume: UInt64
    /// The ticket of the head that speaks for the lane; `nil` when none does.
    var headTicket: Int?
  }

  private struct Delayed: Comparable, Sendable {
    var instant: ContinuousClock.Instant
    var ticket: Int

    static func < (left: Self, right: Self) -> Bool {
      left.instant == right.instant
        ? left.ticket < right.ticket : left.instant < right.instant
    }
  }

  private enum Place: Sendable {
    /// In its lane.
    case lane
    /// Among the suspects.
    case suspect
    /// Until the time of its next try.
    case delayed
    /// Until there is more room on its volume.
    case aside
  }

  private struct Entry: Sendable {
    var candidate: Scheduler.Candidate
    var place: Place
    /// When its next try may come; kept after that.
    var retry: RetryDeadline?
  }

  /// The tickets of those who wait.
  private var tickets = URLTable<Int>()
  /// Those who wait, by their tickets.
  private var entries: [Int: Entry] = [:]
  private var lanes: [Lane] = []
  private var laneIndexes: [LaneKey: Int] = [:]
  private var heads = BinaryHeap<Head>()
  private var suspects: [Turn] = []
  private var delayed = BinaryHeap<Delayed>()
  private var asides: [UInt64: Set<Int>] = [:]
  /// The heads of lanes that lead to a full volume.
  private var parked: [UInt64: [Head]] = [:]
  private var heldVolumes: Set<UInt64> = []
  private var counts: [UInt64: Int] = [:]
  private var lastTicket = 0
  /// How many may stand in lanes and among the delayed that are not waiting any more.
  private var struckOut = 0

  // MARK: Who waits

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// In an order that does not depend on chance.
  var urls: [String] { tickets.urls }

  /// Whether all that wait do so for room on a disk.
  var waitsOnlyForRoom: Bool {
    let held = heldVolumes.reduce(0) { $0 + (counts[$1] ?? 0) }
    let aside = asides.reduce(0) { heldVolumes.contains($1.key) ? $0 : $0 + $1.value.count }
    return !entries.isEmpty && entries.count == held + aside
  }

  /// The download of a URL, if it waits.
  subscript(_ url: String) -> Scheduler.Candidate? {
    tickets[url].flatMap { entries[$0]?.candidate }
  }

  /// When the next try of a waiting download may come, or might have come; `nil` where nothing
  /// delays or delayed it.
  func retryDeadline(of url: String) -> RetryDeadline? {
    tickets[url].flatMap { entries[$0]?.retry }
  }

  /// The download that a head stands for; `nil` when it waits no more.
  subscript(_ head: Head) -> Scheduler.Candidate? { entries[head.turn.ticket]?.candidate }

  // MARK: Coming and going

  /// Has a download wait for its turn, in place of what is known of it.
  ///
  /// - Parameters:
  ///   - candidate: The download.
  ///   - retry: When its turn may come at the earliest; `nil` for at once.
  /// - Complexity: O(log n).
  mutating func insert(_ candidate: Scheduler.Candidate, notBefore retry: RetryDeadline? = nil) {
    let place = retry == nil ? (candidate.isSuspect ? Place.suspect : .lane) : .delayed
    let turn = enter(candidate, place, retry)
    if let retry {
      delayed.insert(Delayed(instant: retry.instant, ticket: turn.ticket))
    } else {
      lineUp(turn, candidate)
    }
  }

  private mutating func enter(
    _ candidate: Scheduler.Candidate,
    _ place: Place,
    _ retry: RetryDeadline? = nil
  ) -> Turn {
    remove(candidate.url)
    if struckOut > entries.count + 1_024 { rebuild() }
    lastTicket += 1
    tickets[candidate.url] = lastTicket
    entries[lastTicket] = Entry(candidate: candidate, place: place, retry: retry)
    counts[candidate.volume, default: 0] += 1
    return Turn(candidate, lastTicket)
  }

  /// Takes a download out.
  ///
  /// - Complexity: O(1), but for a suspect.
  mutating func remove(_ url: String) {
    guard let ticket = tickets[url], let entry = entries.removeValue(forKey: ticket) else { return }
    tickets[url] = nil
    let volume = entry.candidate.volume
    counts[volume] = counts[volume].flatMap { $0 > 1 ? $0 - 1 : nil }
    switch entry.place {
    case .suspect: suspects.removeAll { $0.ticket == ticket }
    case .aside: asides[volume]?.remove(ticket)
    case .lane, .delayed: struckOut += 1
    }
  }

  /// Lines up those whose time has come.
  ///
  /// - Complexity: O(k log n) for k of them.
  mutating func advance(to now: ContinuousClock.Instant) {
    while let first = delayed.first, first.instant <= now {
      _ = delayed.popFirst()
      guard let candidate = entries[first.ticket]?.candidate else { continue }
      entries[first.ticket]?.place = candidate.isSuspect ? .suspect : .lane
      lineUp(Turn(candidate, first.ticket), candidate)
    }
  }

  private mutating func lineUp(_ turn: Turn, _ candidate: Scheduler.Candidate) {
    guard !candidate.isSuspect else {
      // There are as many of them as ran when the process ended.
      let index = suspects.firstIndex { turn < $0 } ?? suspects.endIndex
      return suspects.insert(turn, at: index)
    }
    let key = LaneKey(origin: candidate.origin, volume: candidate.volume)
    let index = laneIndexes[key] ?? lanes.count
    if index == lanes.count {
      laneIndexes[key] = index
      lanes.append(Lane(volume: candidate.volume))
    }
    lanes[index].turns.insert(turn)
    refresh(index)
  }

  // MARK: Taking turns

  /// The first suspect that meets a condition.
  func firstSuspect(where condition: (Scheduler.Candidate) -> Bool) -> Scheduler.Candidate? {
    for suspect in suspects {
      if let candidate = entries[suspect.ticket]?.candidate,
        !heldVolumes.contains(candidate.volume), condition(candidate)
      {
        return candidate
      }
    }
    return nil
  }

  /// The first of all heads of lanes, which then no head speaks for: take it or put it back.
  ///
  /// - Complexity: O(log n), and what was struck out since.
  mutating func popHead() -> Head? {
    while let head = heads.popFirst() {
      guard lanes[head.lane].headTicket == head.turn.ticket else { continue }
      let volume = lanes[head.lane].volume
      if heldVolumes.contains(volume) {
        parked[volume, default: []].append(head)
        continue
      }
      lanes[head.lane].headTicket = nil
      if isInLane(head.turn) { return head }
      refresh(head.lane)
    }
    return nil
  }

  /// Has heads speak for their lanes again.
  mutating func putBack(_ passed: [Head]) {
    for head in passed {
      lanes[head.lane].headTicket = head.turn.ticket
      heads.insert(head)
    }
  }

  /// Takes the download out that a head stands for.
  mutating func take(_ head: Head) {
    if let url = self[head]?.url { remove(url) }
    refresh(head.lane)
  }

  /// Has the first of a lane speak for it.
  private mutating func refresh(_ lane: Int) {
    while let first = lanes[lane].turns.first, !isInLane(first) {
      _ = lanes[lane].turns.popFirst()
    }
    guard let first = lanes[lane].turns.first, lanes[lane].headTicket != first.ticket else {
      return
    }
    lanes[lane].headTicket = first.ticket
    heads.insert(Head(turn: first, lane: lane))
  }

  /// Lines everybody up anew, without those that are not waiting any more.
  private mutating func rebuild() {
    (lanes, laneIndexes, heads, parked) = ([], [:], BinaryHeap(), [:])
    (delayed, suspects) = (BinaryHeap(), [])
    struckOut = 0
    for (ticket, entry) in entries {
      switch entry.place {
      case .lane, .suspect: lineUp(Turn(entry.candidate, ticket), entry.candidate)
      case .delayed:
        guard let retry = entry.retry else { continue }
        delayed.insert(Delayed(instant: retry.instant, ticket: ticket))
      case .aside: break
      }
    }
  }

  private func isInLane(_ turn: Turn) -> Bool {
    if case .lane? = entries[turn.ticket]?.place { true } else { false }
  }

  // MARK: Full volumes

  /// Lets nothing start that goes to a volume.
  mutating func hold(volume: UInt64) {
    heldVolumes.insert(volume)
  }

  /// Has a download wait until its volume is released: there is room for others, not for it.
  mutating func setAside(_ candidate: Scheduler.Candidate) {
    let turn = enter(candidate, .aside)
    asides[candidate.volume, default: []].insert(turn.ticket)
  }

  /// Lets start again what goes to a volume.
  mutating func release(volume: UInt64) {
    heldVolumes.remove(volume)
    for head in parked.removeValue(forKey: volume) ?? [] { heads.insert(head) }
    for ticket in (asides.removeValue(forKey: volume) ?? []).sorted() {
      if let candidate = entries[ticket]?.candidate { insert(candidate) }
    }
  }

  /// Whether somebody was put aside for want of room on a volume.
  func hasAsides(volume: UInt64) -> Bool { asides[volume]?.isEmpty == false }
}
