internal import DownloadReports
package import DownloadStore
package import Logging
internal import ObjectStore
internal import SystemInterface

/// Follows the changes of a store, of all processes, for any number of clients.
///
/// One loop reads what has changed, at most twice a second, and measures the speeds of running
/// downloads. A client that has kept up gets that change, so that further clients cost the store
/// nothing. A client that has not, because it is slow or was away, keeps only its position: when it is
/// ready for more it gets the sum of all changes since then, from the store's history.
package final class LiveFeed: Sendable {
  /// The shortest time between two changes.
  static let interval = Duration.milliseconds(500)
  /// The time between two looks for a commit.
  static let pollInterval = Duration.milliseconds(100)
  /// The maximum number of downloads in a change; of more, a client reads its view again.
  static let maximumItems = 500
  /// The number of running downloads whose speeds are measured.
  static let maximumRunning = 1000

  let store: RecordStore
  private let logger: Logger
  /// A lock, because clients of any thread ask for speeds and changes while the loop replaces them.
  private let state: Mutex<State>

  struct State: Sendable {
    var reader = LiveReader()
    /// The last change, and the position at which it begins.
    var last: (base: HistoryToken, change: LiveChange)?
    /// The number of changes so far.
    var sequence = 0
    var clients: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextClient = 0
    var isEnded = false
  }

  /// Creates a feed of a store, which has no news until ``run()``.
  package init(of store: RecordStore, logger: Logger) {
    self.store = store
    self.logger = logger
    state = Mutex(State())
  }

  /// Follows the store until the task is cancelled.
  ///
  /// - Parameter heartbeat: The time after which a client without news gets a sign of life.
  package func run(heartbeat: Duration = .seconds(15)) async {
    var failure: String?
    var beat = ContinuousClock.now
    while !Task.isCancelled {
      if beat.duration(to: .now) >= heartbeat {
        beat = .now
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients { client.yield() }
      }
      do {
        try await look()
        failure = nil
      } catch is CancellationError {
        break
      } catch {
        // The next look may succeed, and says the same if not.
        if failure != "\(error)" {
          logger.error("cannot read the store", metadata: ["error": "\(error)"])
        }
        failure = "\(error)"
        if (error as? StoreError)?.code == .replaced { endClients() }
      }
      try? await Task.sleep(for: Self.pollInterval)
    }
    state.withLock { $0.isEnded = true }
    endClients()
  }

  /// Reads what has changed, if it is time, and wakes the clients.
  private func look() async throws {
    let reader = state.withLock { $0.reader }
    let step = try await store.inBackground { [store] in
      try store.objects.requireInPlace()
      return try reader.step(in: store)
    }
    guard let step else { return }
    let clients = state.withLock { state -> [AsyncStream<Void>.Continuation] in
      state.reader = step.reader
      guard let base = step.base, let change = step.change else { return [] }
      state.last = (base, change)
      state.sequence += 1
      return Array(state.clients.values)
    }
    for client in clients { client.yield() }
  }

  /// Ends the changes of all clients, which connect again and learn why there are none.
  private func endClients() {
    let clients = state.withLock { Array($0.clients.values) }
    for client in clients { client.finish() }
  }

  // MARK: What routes ask

  /// Returns the speed of a running download in bytes per second; `nil` if it is not known.
  package func speed(of id: String) -> Double? {
    state.withLock { $0.reader.speeds.values[id] }
  }

  /// The totals as of the last change.
  package var summary: LiveChange.Summary { state.withLock { $0.reader.summary } }

  /// Returns the changes after a position, for one client; they end when the feed does.
  ///
  /// - Parameter token: The position that the client has; `nil` for none: the first change then has
  ///   the running downloads and the totals.
  /// - Returns: The changes. The first one comes at once.
  package func changes(after token: String?) -> LiveChanges {
    LiveChanges(feed: self, token: token)
  }

  // MARK: Clients

  /// Adds a client.
  ///
  /// - Returns: Its number, and the stream that tells it to look for changes.
  func register() -> (client: Int, wakes: AsyncStream<Void>) {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let client = state.withLock { state in
      state.nextClient += 1
      state.clients[state.nextClient] = continuation
      if state.isEnded { continuation.finish() }
      return state.nextClient
    }
    return (client, stream)
  }

  /// Removes a client.
  func unregister(_ client: Int) {
    state.withLock { $0.clients[client] = nil }
  }

  /// Returns the change after a client's position; `nil` without news.
  ///
  /// - Parameters:
  ///   - position: The position of the client; `nil` for none.
  ///   - sequence: The number of the last change that the client has got; `nil` for none.
  /// - Returns: The change, its end and its number.
  /// - Throws: `StoreError`.
  func change(
    after position: HistoryToken?,
    _ sequence: Int?
  ) async throws -> (LiveChange, HistoryToken?, Int)? {
    let (reader, last, number) = state.withLock { ($0.reader, $0.last, $0.sequence) }
    if let sequence, sequence == number { return nil }
    if let sequence, sequence == number - 1, let last, last.base == position {
      return (last.change, reader.position, number)
    }
    let (change, end) = try await store.inBackground { [store] in
      try reader.change(since: position, in: store)
    }
    return (change, end, number)
  }
}

/// What a client of a ``LiveFeed`` gets.
enum LiveEvent: Sendable {
  case change(LiveChange)
  /// There is no news.
  case heartbeat
}

/// The changes for one client of a ``LiveFeed``.
package struct LiveChanges: AsyncSequence, Sendable {
  package typealias Element = LiveChange

  let feed: LiveFeed
  let token: String?

  /// Registers the client.
  package func makeAsyncIterator() -> Iterator { Iterator(feed, token) }

  /// The position of one client.
  package final class Iterator: AsyncIteratorProtocol {
    private let feed: LiveFeed
    private let client: Int
    private var wakes: AsyncStream<Void>.AsyncIterator
    private var position: HistoryToken?
    private var sequence: Int?
    /// Whether the client has sent a token that is none, so that it has to read its view again.
    private var isUnknown: Bool

    init(_ feed: LiveFeed, _ token: String?) {
      self.feed = feed
      let (client, wakes) = feed.register()
      self.client = client
      self.wakes = wakes.makeAsyncIterator()
      position = token.flatMap(LiveToken.token)
      isUnknown = token != nil && position == nil
    }

    deinit { feed.unregister(client) }

    /// Returns the next change, once there is one; `nil` when the feed has ended.
    ///
    /// - Throws: `StoreError`; `CancellationError`.
    package func next() async throws -> LiveChange? {
      while let event = try await nextEvent() {
        if case .change(let change) = event { return change }
      }
      return nil
    }

    /// Returns the next change or sign of life; `nil` when the feed has ended.
    ///
    /// - Throws: `StoreError`; `CancellationError`.
    func nextEvent() async throws -> LiveEvent? {
      // The first change is waiting already.
      if sequence != nil {
        guard await wakes.next(isolation: #isolation) != nil else { return nil }
      }
      try Task.checkCancellation()
      guard let news = try await feed.change(after: position, sequence) else { return .heartbeat }
      var change = news.0
      (position, sequence) = (news.1, news.2)
      if isUnknown { change.isReset = true }
      isUnknown = false
      return .change(change)
    }
  }
}
