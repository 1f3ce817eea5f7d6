internal import DownloadStore
internal import SystemInterface

/// Distributes events to all interested consumers, and waits for none of them.
final class EventHub: Sendable {
  private struct State {
    var consumers: [UInt64: Consumer] = [:]
    var nextNumber: UInt64 = 0
    var hasEnded = false
  }

  /// The events that a consumer gets; every consumer is notified of the end of the run.
  enum Interest: Sendable, Hashable {
    case everything
    /// The events of one record, whatever its current URL is.
    case record(id: String)
    /// The events that have this URL, and those without a URL.
    case url(String)
    case nothing
  }

  /// The buffer of one consumer, and the signal that wakes it.
  final class Consumer: Sendable {
    private struct State {
      var buffer: EventBuffer
      var hasEnded = false
    }

    let interest: Interest
    // Held only while an event is appended or taken.
    private let state: Mutex<State>
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    init(interest: Interest, capacity: Int) {
      self.interest = interest
      state = Mutex(State(buffer: EventBuffer(capacity: capacity)))
      (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func take(_ event: DownloadEvent) {
      state.withLock { $0.buffer.append(event) }
      wakeUp.yield()
    }

    func end() {
      state.withLock { $0.hasEnded = true }
      wakeUp.finish()
    }

    /// Waits for the next event; `nil` at the end and when the task is cancelled.
    func next() async -> DownloadEvent? {
      var iterator = wakeUps.makeAsyncIterator()
      while !Task.isCancelled {
        let (event, hasEnded) = state.withLock { ($0.buffer.next(), $0.hasEnded) }
        if let event { return event }
        // The signal ends when the task is cancelled and when the run ends. After the run the loop
        // continues with the events that are left in the buffer.
        guard !hasEnded, await iterator.next() != nil || self.hasEnded else { return nil }
      }
      // A cancelled task ends the sequence for all readers, whether it was waiting or not.
      wakeUp.finish()
      return nil
    }

    /// Waits for an interval, or until the buffer has the end of a download, or the run has ended.
    func waitForEnd(atMost interval: Duration) async {
      let deadline = ContinuousClock.now.advanced(by: interval)
      let timer = Task { [wakeUp] in
        try await Task.sleep(until: deadline, clock: .continuous)
        wakeUp.yield()
      }
      defer { timer.cancel() }
      var iterator = wakeUps.makeAsyncIterator()
      while ContinuousClock.now < deadline, !hasEnd {
        guard await iterator.next() != nil else { return }
      }
    }

    /// Empties the buffer, and returns whether it had the end of a download or the run has ended.
    func takeEnd() -> Bool {
      state.withLock { state in
        let hasEnd = state.buffer.hasEnd || state.hasEnded
        while state.buffer.next() != nil {}
        return hasEnd
      }
    }

    private var hasEnded: Bool { state.withLock { $0.hasEnded } }
    private var hasEnd: Bool { state.withLock { $0.buffer.hasEnd || $0.hasEnded } }
  }

  // Held only while the list of consumers is read or changed.
  private let state = Mutex(State())

  /// Adds a consumer, which gets events from the next one on.
  ///
  /// After the end of the run the consumer has ended from the start.
  func subscribe(to interest: Interest, capacity: Int) -> EventSubscription {
    let consumer = Consumer(interest: interest, capacity: capacity)
    let number = state.withLock { state -> UInt64 in
      state.nextNumber += 1
      if state.hasEnded { consumer.end() } else { state.consumers[state.nextNumber] = consumer }
      return state.nextNumber
    }
    return EventSubscription(consumer: consumer, number: number, hub: self)
  }

  func unsubscribe(_ number: UInt64) {
    state.withLock { state in _ = state.consumers.removeValue(forKey: number) }
  }

  /// The number of consumers.
  var consumerCount: Int { state.withLock { $0.consumers.count } }

  /// Appends an event to the buffers of the consumers that are interested in it.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - recordID: The id of the record it is about; `nil` for the id of the event's own record. If
  ///     there is neither, consumers that follow a record do not get the event.
  func emit(_ event: DownloadEvent, of recordID: String? = nil) {
    let consumers = state.withLock { Array($0.consumers.values) }
    let recordID = recordID ?? event.record?.id
    for consumer in consumers where consumer.wants(event, of: recordID) { consumer.take(event) }
  }

  /// Ends the sequence of each consumer, after the events that are still in its buffer.
  func end() {
    let consumers = state.withLock { state in
      state.hasEnded = true
      defer { state.consumers = [:] }
      return Array(state.consumers.values)
    }
    for consumer in consumers { consumer.end() }
  }
}

extension EventHub.Consumer {
  fileprivate func wants(_ event: DownloadEvent, of recordID: String?) -> Bool {
    switch interest {
    case .everything: true
    case .record(let id): id == recordID
    case .url(let url): event.url?.utf8.elementsEqual(url.utf8) ?? true
    case .nothing: false
    }
  }
}

/// Keeps a consumer registered with the hub until it is released.
final class EventSubscription: Sendable {
  let consumer: EventHub.Consumer
  private let number: UInt64
  private let hub: EventHub

  init(consumer: EventHub.Consumer, number: UInt64, hub: EventHub) {
    self.consumer = consumer
    self.number = number
    self.hub = hub
  }

  deinit {
    hub.unsubscribe(number)
  }
}

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
