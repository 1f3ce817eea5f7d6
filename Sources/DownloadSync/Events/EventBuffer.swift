/// The events that one consumer has not taken yet.
///
/// It has a bound: when it is full the oldest go, and the consumer is told how many. Ends of
/// downloads go last, so that who follows one download always learns of its last end.
struct EventBuffer: Sendable {
  private let capacity: Int
  private var events: [DownloadEvent] = []
  private var first = 0
  private var dropped = 0

  /// Makes room for that many events.
  init(capacity: Int) {
    precondition(capacity > 0, "a buffer needs room for an event")
    self.capacity = capacity
  }

  /// How many events wait.
  var count: Int { events.count - first }

  /// Whether the end of a download waits.
  var hasEnd: Bool { events[first...].contains(where: \.isEnd) }

  /// Takes an event, for which an older one may have to go.
  mutating func append(_ event: DownloadEvent) {
    if count == capacity {
      dropped += 1
      if let oldest = events[first...].firstIndex(where: { !$0.isEnd }) {
        events.remove(at: oldest)
      } else {
        first += 1
      }
    }
    // What was given out is dropped now and then, so that taking one costs O(1).
    if first > 64, first > events.count / 2 {
      events.removeFirst(first)
      first = 0
    }
    events.append(event)
  }

  /// The next event; `nil` when there is none for now.
  ///
  /// What was dropped is told before the events that came after it.
  mutating func next() -> DownloadEvent? {
    if dropped > 0 {
      defer { dropped = 0 }
      return .missed(dropped)
    }
    guard first < events.count else { return nil }
    defer { first += 1 }
    return events[first]
  }
}
