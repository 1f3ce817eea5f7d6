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
      while true {
        let (event, hasEnded) = state.withLock { ($0.buffer.next(), $0.hasEnded) }
        if let event { return event }
        // The signal ends when the task is cancelled and when the run ends. After the run the loop
        // continues with the events that are left in the buffer.
        guard !hasEnded, await iterator.next() != nil || self.hasEnded else { return nil }
      }
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
