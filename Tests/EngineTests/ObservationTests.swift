import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import Logging
import ObjectStore
import SystemInterface
import Testing

/// An engine whose observation of the store fails.
@Suite(.timeLimit(.minutes(10)))
struct ObservationTests {
  /// The commits of a store, with a given number of failing observations.
  private final class Source: Sendable {
    /// Delivers the first element immediately.
    ///
    /// A failing sequence throws instead of the second.
    struct Observation: AsyncSequence {
      struct Iterator: AsyncIteratorProtocol {
        let fails: Bool
        var commits: Commits.Iterator
        var isFirst = true

        mutating func next() async throws -> UInt64? {
          if fails, !isFirst { throw StoreError(.other, "no reader slot is free") }
          isFirst = false
          return try await commits.next()
        }
      }

      let fails: Bool
      let commits: Commits

      func makeAsyncIterator() -> Iterator {
        Iterator(fails: fails, commits: commits.makeAsyncIterator())
      }
    }

    private let store: Store
    private let failuresLeft: Mutex<Int>
    let beginnings = Mutex(0)

    init(_ store: Store, failures: Int) {
      self.store = store
      failuresLeft = Mutex(failures)
    }

    func commits() -> Observation {
      beginnings.withLock { $0 += 1 }
      let fails = failuresLeft.withLock { left in
        defer { left -= 1 }
        return left > 0
      }
      return Observation(fails: fails, commits: store.commits)
    }
  }

  /// Records the messages of a logger.
  private struct Messages: LogHandler {
    final class Storage: Sendable {
      let lines = Mutex<[(level: Logger.Level, message: String)]>([])
    }

    let storage: Storage
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      storage.lines.withLock { $0.append((event.level, event.message.description)) }
    }
  }

  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  @Test(arguments: [1, 3])
  func `an engine notices other processes' commits again after its observation has failed`(
    failures: Int
  ) async throws {
    let source = Source(fixture.store.objects, failures: failures)
    let storage = Messages.Storage()
    var environment = EngineEnvironment.live
    environment.wake = { store, post in
      let watching = Task {
        await EngineEnvironment.watch(retryInterval: .milliseconds(1), source.commits, post)
      }
      return { watching.cancel() }
    }
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      logger: Logger(label: "test") { _ in Messages(storage: storage) },
      now: { Date() },
      environment: environment
    )
    let other = try RecordStore(at: fixture.store.path)
    try await fixture.running(engine) {
      try await waitUntil("the failures") { source.beginnings.withLock { $0 } == failures + 1 }
      try other.addNow([DownloadRequest(url: fixture.url("late"))])
      try await fixture.started(1)
    }
    let warnings = storage.lines.withLock { $0 }.filter { $0.level == .warning }
    #expect(warnings.count == failures)
    #expect(warnings.allSatisfy { $0.message.contains("observing the store failed") })
  }

  @Test func `an engine notices a commit made while its observation was down`() async throws {
    let signals = Mutex(0)
    let beginnings = Mutex(0)
    let watching = Task {
      await EngineEnvironment.watch(
        retryInterval: .milliseconds(1),
        {
          beginnings.withLock { $0 += 1 }
          return AsyncThrowingStream<UInt64, any Error> { throw StoreError(.other, "closed") }
        },
        { signal in
          if case .storeChanged = signal { signals.withLock { $0 += 1 } }
        }
      )
    }
    // No element ever arrives: the engine is notified nevertheless.
    try await waitUntil("three notifications") { signals.withLock { $0 } >= 3 }
    #expect(beginnings.withLock { $0 } >= 3)
    watching.cancel()
    await watching.value
  }
}
