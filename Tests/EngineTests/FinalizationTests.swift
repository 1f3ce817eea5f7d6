import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Complete files that do not get their final names.
@Suite(.timeLimit(.minutes(10)))
struct FinalizationTests {
  private let fixture: ManualFixture
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
  }

  private static let digest: Digest = {
    var hasher = DigestHasher(.sha256)
    hasher.update([UInt8](repeating: 7, count: 100).span)
    return hasher.digest
  }()

  /// Performs a deed once before an effect, from when the test arms it.
  private final class Interruption: Sendable {
    private let isArmed = Mutex(false)
    private let isMeant: @Sendable (Effect) -> Bool
    private let perform: @Sendable () throws -> Void

    init(
      before isMeant: @escaping @Sendable (Effect) -> Bool,
      perform: @escaping @Sendable () throws -> Void
    ) {
      self.isMeant = isMeant
      self.perform = perform
    }

    func arm() { isArmed.withLock { $0 = true } }

    var hook: EffectHook {
      EffectHook { [self] effect in
        guard isMeant(effect) else { return nil }
        let isNow = isArmed.withLock { isArmed in
          defer { isArmed = false }
          return isArmed
        }
        return isNow && (try? perform()) == nil ? EIO : nil
      }
    }
  }

  /// Creates an engine without checkpoints, whose retries wait for minutes.
  private func engine(_ hook: EffectHook = EffectHook()) throws -> DownloadEngine {
    var options = EngineOptions()
    options.split.maximumConnections = 1
    options.checkpointInterval = .seconds(600)
    options.retry = RetryPolicy(maximumAttempts: 8, base: .seconds(1_200), cap: .seconds(1_200))
    return try DownloadEngine(
      store: fixture.store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
  }

  private func expectNoWait(_ code: DownloadFailure.Code) async throws {
    try await waitUntil("the failure") { try !fixture.record("a").attempts.isEmpty }
    let record = try fixture.record("a")
    #expect(record.attempts.map(\.failure.code) == [code])
    #expect(record.received == 0)
    #expect(record.nextRetryAt.map { $0.timeIntervalSinceNow < 300 } ?? true)
    try await fixture.started(2)
    #expect(transport.started[1].request.offset == 0)
  }

  @Test func `a file whose old name cannot be removed is complete once that is gone`() async throws
  {
    try fixture.add("a")
    let layout = try fixture.layout("a")
    let hasRefused = Mutex(false)
    let hook = EffectHook { effect in
      guard effect == .remove(path: layout.partialPath),
        FileIdentity(ofFileAt: layout.finalPath) != nil
      else { return nil }
      return hasRefused.withLock { hasRefused in
        defer { hasRefused = true }
        return hasRefused ? nil : EIO
      }
    }
    try await fixture.running(try engine(hook)) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.reached(.failedRetryable, "a")
    }
    let record = try fixture.record("a")
    let failure = try #require(record.attempts.last?.failure)
    #expect(failure.message.contains("removing \(layout.partialPath)"))
    #expect(FileIdentity(ofFileAt: layout.partialPath) == FileIdentity(ofFileAt: layout.finalPath))
    // The next engine finds both names, and needs no request.
    try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
    _ = try await engine().run(until: .idle)
    #expect(try fixture.record("a").state == .completed)
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
    #expect(FileIdentity(ofFileAt: layout.finalPath) == record.fileIdentity)
    #expect(transport.started.count == 1)
  }

  /// Adds a download that requires its name, and returns a hook that creates another file with that
  /// name before the first effect of a kind.
  private func takeName(before effect: @escaping @Sendable (Effect) -> Bool) throws -> EffectHook {
    var request = DownloadRequest(url: fixture.url("a"))
    request.collision = .fail
    try fixture.store.addNow([request])
    let path = try fixture.layout("a").finalPath
    let hasTaken = Mutex(false)
    return EffectHook { found in
      guard effect(found) else { return nil }
      hasTaken.withLock { hasTaken in
        if !hasTaken { try? Data("mine".utf8).write(to: URL(filePath: path)) }
        hasTaken = true
      }
      return nil
    }
  }

  @Test(arguments: ["synchronize", "link"])
  func `a name that must not be numbered and is taken fails the download, which keeps its bytes`(
    effect: String
  ) async throws {
    let hook = try takeName { found in
      switch found {
      case .synchronize: effect == "synchronize"
      case .link: effect == "link"
      default: false
      }
    }
    let layout = try fixture.layout("a")
    try await fixture.running(try engine(hook)) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.reached(.failedPermanent, "a")
    }
    let failed = try fixture.record("a")
    let failure = try #require(failed.attempts.last?.failure)
    #expect(failure.detail == .nameTaken && failure.message.contains(layout.finalPath))
    #expect(failed.filename == "a" && failed.received > 0)
    #expect(try Data(contentsOf: URL(filePath: layout.finalPath)) == Data("mine".utf8))
    // As long as the name is taken, an attempt fails before its request.
    try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
    _ = try await engine().run(until: .idle)
    #expect(try fixture.record("a").state == .failedPermanent)
    var update = RecordUpdate()
    update.filename = "b"
    _ = try fixture.store.updateNow(matching: fixture.url("a"), with: update)
    try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
    _ = try await engine().run(until: .idle)
    let record = try fixture.record("a")
    #expect(record.state == .completed && record.filename == "b")
    #expect(transport.started.count == 1)
  }

  @Test(arguments: [EINVAL, EILSEQ, ENAMETOOLONG])
  func `a file whose name the disk refuses is complete, and gets another name without a request`(
    code: Int32
  ) async throws {
    try fixture.add("a")
    let path = try fixture.layout("a").finalPath
    let hook = EffectHook { effect in
      switch effect {
      case .link(_, path), .rename(_, path), .open(path): code
      default: nil
      }
    }
    try await fixture.running(try engine(hook)) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.reached(.failedPermanent, "a")
    }
    let failed = try fixture.record("a")
    let failure = try #require(failed.attempts.last?.failure)
    #expect(failure.code == .fileSystem && failure.message.contains(path), "\(failure)")
    // By this, the tool knows that the name may be the cause.
    #expect(failed.fileIdentity != nil && failed.completedAt == nil)
    var update = RecordUpdate()
    update.filename = "b"
    _ = try fixture.store.updateNow(matching: fixture.url("a"), with: update)
    try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
    _ = try await engine(hook).run(until: .idle)
    #expect(try fixture.record("a").state == .completed)
    #expect(transport.started.count == 1)
  }

  @Test func `a complete file that is cancelled before its rename is committed gets no name`()
    async throws
  {
    try fixture.add("a")
    let layout = try fixture.layout("a")
    let (store, url) = (fixture.store, fixture.url("a"))
    let cancel = Interruption {
      $0 == .commit
    } perform: {
      try store.apply(.cancel, to: .matching(url))
    }
    try await fixture.running(try engine(cancel.hook)) {
      try await fixture.started(1)
      cancel.arm()
      transport.started[0].complete()
      try await fixture.reached(.cancelled, "a")
    }
    #expect(FileIdentity(ofFileAt: layout.finalPath) == nil)
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `a complete file that is deleted before its sync is requested again at once`()
    async throws
  {
    try fixture.add("a")
    let path = try fixture.layout("a").partialPath
    let deletion = Interruption {
      if case .synchronize = $0 { true } else { false }
    } perform: {
      try FileManager.default.removeItem(atPath: path)
    }
    try await fixture.running(try engine(deletion.hook)) {
      try await fixture.started(1)
      deletion.arm()
      transport.started[0].complete()
      // The server is not at fault.
      try await expectNoWait(.fileInUse)
    }
  }

  @Test func `a file of two versions with a wrong digest is requested again at once`() async throws
  {
    var request = DownloadRequest(url: fixture.url("a"))
    request.digest = Self.digest
    try fixture.store.addNow([request])
    try fixture.change("a", partial: 40) {
      $0.received = 40
      $0.expected = 100
      $0.entityTag = "\"1\""
    }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      #expect(first.request.offset == 40)
      let fields = [("ETag", "\"2\""), ("Content-Range", "bytes 40-99/100")]
      let head = ResponseHead(
        status: 206,
        fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
      )
      #expect(first.sink.receive(head) == .proceed)
      _ = first.sink.receive([UInt8](repeating: 8, count: 60).span)
      first.sink.finish(.completed)
      // No server is at fault if each of them sent the right bytes of its version.
      try await expectNoWait(.entityChanged)
    }
  }
}
