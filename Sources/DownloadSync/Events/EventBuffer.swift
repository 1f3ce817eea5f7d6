/// A bounded buffer of the events that one consumer has not taken yet.
///
/// A full buffer drops its oldest event that does not end a download, and reports the number of
/// dropped events. It drops an end only if it contains nothing else, so that a consumer of a single
/// download always gets the last end.
struct EventBuffer: Sendable {
  private let capacity: Int
  private var events: [DownloadEvent] = []
  private var first = 0
  private var dropped = 0

  /// Creates a buffer.
  ///
  /// - Precondition: `capacity` is at least 1.
  init(capacity: Int) {
    precondition(capacity > 0, "the capacity of an event buffer is at least 1")
    self.capacity = capacity
  }

  /// The number of buffered events.
  var count: Int { events.count - first }

  /// Whether the end of a download is buffered.
  var hasEnd: Bool { events[first...].contains(where: \.isEnd) }

  /// Appends an event, after dropping an older one if the buffer is full.
  ///
  /// - Complexity: O(1) amortized; O(capacity) if the buffer is full.
  mutating func append(_ event: DownloadEvent) {
    if count == capacity {
      dropped += 1
      if let oldest = events[first...].firstIndex(where: { !$0.isEnd }) {
        events.remove(at: oldest)
      } else {
        first += 1
      }
    }
    // Taken events are removed in bulk, so that taking one costs O(1).
    if first > 64, first > events.count / 2 {
      events.removeFirst(first)
      first = 0
    }
    events.append(event)
  }

  /// Removes and returns the next event; `nil` if the buffer is empty.
  ///
  /// The number of dropped events is returned first.
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
