internal import DownloadStore
internal import Synchronization

/// Gives every event to every consumer, and waits for none of them.
final class EventHub: Sendable {
  private struct State {
    var consumers: [UInt64: Consumer] = [:]
    var nextNumber: UInt64 = 0
    var hasEnded = false
  }

  /// Which events a consumer is told of; the end of the run is told to all.
  enum Interest: Sendable, Hashable {
    case everything
    /// Those of one record, whichever URL it has.
    case record(id: String)
    /// Those of the record that has the URL.
    case url(String)
    case nothing
  }

  /// One consumer's place: what it has not taken yet, and how it is woken.
  final class Consumer: Sendable {
    private struct State {
      var buffer: EventBuffer
      var hasEnded = false
    }

    let interest: Interest
    // Held for as long as it takes to put an event into an array.
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

    /// The next event, once there is one; `nil` at the end, and when the task is cancelled.
    func next() async -> DownloadEvent? {
      var iterator = wakeUps.makeAsyncIterator()
      while true {
        let (event, hasEnded) = state.withLock { ($0.buffer.next(), $0.hasEnded) }
        if let event { return event }
        // The stream ends with the task that waits for it.
        guard !hasEnded, await iterator.next() != nil || self.hasEnded else { return nil }
      }
    }

    /// Waits until so much time has passed, or there is the end of a download or of everything.
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

    /// Drops what waits; says whether there was the end of a download, or of everything.
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

  // Held for as long as it takes to go over the consumers.
  private let state = Mutex(State())

  /// A new consumer, from the next event on.
  ///
  /// When nothing more will be told it ends at once.
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

  /// How many consumers there are.
  var consumerCount: Int { state.withLock { $0.consumers.count } }

  /// Tells the consumers that are interested in the event.
  ///
  /// - Parameters:
  ///   - event: What happened.
  ///   - recordID: The record to which it happened; by default the one in the event. Without any,
  ///     consumers that follow a record are not told.
  func emit(_ event: DownloadEvent, of recordID: String? = nil) {
    let consumers = state.withLock { Array($0.consumers.values) }
    let recordID = recordID ?? event.record?.id
    for consumer in consumers where consumer.wants(event, of: recordID) { consumer.take(event) }
  }

  /// Ends every consumer's sequence, once it has taken what is left.
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

/// A consumer's right to be told of events; ends with its last reference.
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
