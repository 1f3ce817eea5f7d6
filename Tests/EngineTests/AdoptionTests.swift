import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ResumeData
import SystemInterface
import Testing

/// The tasks of a background session that a previous engine left, and their records.
///
/// In most tests the record counts 40 of 100 bytes, which are in its partial file.
@Suite(.timeLimit(.minutes(10)))
struct AdoptionTests {
  private typealias Call = ManualBackgroundTransport.Call

  private static let id: UInt64 = 1_000
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  private func partialSize(_ name: String = "a") throws -> Int64? {
    FileIdentity(ofFileAt: try fixture.layout(name).partialPath)?.size
  }

  /// Expects that the record counts 40 bytes, which the partial file has.
  private func expectBytesKept() throws {
    let (record, size) = (try fixture.record("a"), try partialSize())
    #expect(record.received == 40 && size == 40)
  }

  /// Stores that 40 of 100 bytes were received, after a change.
  private func interrupt(
    partial: Int? = 40,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void = { _ in }
  ) throws {
    try FileManager.default.createDirectory(
      atPath: fixture.layout("a").folderPath,
      withIntermediateDirectories: true
    )
    try fixture.change("a", partial: partial) { record in
      record.state = .running
      record.received = 40
      record.expected = 100
      record.entityTag = "\"1\""
      change(&record)
    }
  }

  private func task(
    _ id: UInt64 = id,
    of name: String = "a",
    from offset: Int64,
    received: Int64 = 10,
    _ state: TaskSnapshot.State = .running,
    isDelivered: Bool = false
  ) throws -> TaskSnapshot {
    TaskSnapshot(
      id: TaskID(rawValue: id),
      recordID: try fixture.record(name).id,
      bytesReceived: received,
      offset: offset,
      state: state,
      isDelivered: isDelivered
    )
  }

  /// Runs an engine that finds tasks, until it has called the session about them, and then `body`.
  ///
  /// A change is a command of the user that is stored just before the first commit of the engine.
  private func launch(
    with left: [TaskSnapshot],
    keeping keptRecordIDs: [String] = [],
    change: DownloadCommand? = nil,
    awaiting count: Int = 1,
    _ body: (ManualBackgroundTransport) async throws -> Void
  ) async throws {
    let session = ManualBackgroundTransport(
      tasks: fixture.transport,
      left: left,
      keptRecordIDs: keptRecordIDs
    )
    var options = EngineOptions()
    options.split.maximumConnections = 1
    let pending = Mutex(change)
    let (store, url) = (fixture.store, fixture.url("a"))
    let hook = EffectHook { effect in
      guard effect == .commit, let command = pending.withLock({ $0.take() }) else { return nil }
      return (try? store.apply(command, to: .matching(url))) == nil ? EIO : nil
    }
    let engine = try DownloadEngine(
      store: store,
      transport: session,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
    try await fixture.running(engine) {
      try await waitUntil("\(count) calls") { session.calls.count >= count }
      try await body(session)
    }
  }

  @Test(arguments: [0, 20, 60] as [Int64])
  func `a task that does not begin where the counted bytes end is cancelled`(
    offset: Int64
  ) async throws {
    try interrupt()
    try await launch(with: [try task(from: offset)]) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 40)
      try expectBytesKept()
    }
  }

  @Test func `a task that begins where the counted bytes end is adopted`() async throws {
    try interrupt()
    try await launch(with: [try task(from: 40)]) { session in
      #expect(session.calls == [.adopt(Self.id)])
      try expectBytesKept()
    }
    #expect(fixture.transport.started.isEmpty)
  }

  @Test func `an adopted task keeps the validator of the bytes that it has received before`()
    async throws
  {
    let draft = URLSessionResumeData.Draft(
      url: fixture.url("a"),
      received: 40,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp"),
      entityTag: "\"1\""
    )
    let data = Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
    try fixture.change("a") { record in
      record.state = .running
      record.resumeData = data
    }
    try await launch(with: [try task(from: 0)]) { session in
      #expect(session.calls == [.adopt(Self.id)])
      let record = try fixture.record("a")
      #expect(record.resumeData == nil && record.received == 0 && record.entityTag == "\"1\"")
    }
  }

  @Test func `a delivered body is not adopted if bytes before it are missing`() async throws {
    try interrupt()
    let left = try task(from: 60, received: 40, .ended, isDelivered: true)
    try await launch(with: [left]) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 40)
      let record = try fixture.record("a")
      #expect(record.received == 40)
    }
  }

  @Test(arguments: [0, 20] as [Int64])
  func `counted bytes that a delivered body contains are read again`(offset: Int64) async throws {
    try interrupt()
    let left = try task(from: offset, received: 100 - offset, .ended, isDelivered: true)
    try await launch(with: [left]) { session in
      #expect(session.calls == [.adopt(Self.id)])
      let record = try fixture.record("a")
      #expect(record.received == offset)
    }
  }

  @Test(arguments: [nil, 30] as [Int?])
  func `no task is adopted if the partial file lacks bytes before it`(partial: Int?) async throws {
    try interrupt(partial: partial)
    try await launch(with: [try task(from: 40)]) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 0)
    }
  }

  @Test(arguments: [false, true])
  func `no task is adopted if another file is in the place of the partial file`(
    isDelivered: Bool
  ) async throws {
    try interrupt()
    var known = try #require(FileIdentity(ofFileAt: try fixture.layout("a").partialPath))
    known.inode += 1
    let other = known
    try fixture.change("a") { $0.partialIdentity = other }
    let left =
      isDelivered
      ? try task(from: 20, received: 80, .ended, isDelivered: true) : try task(from: 40)
    try await launch(with: [left]) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 0)
    }
  }

  @Test(arguments: [DownloadState.completed, .finalizing, .running])
  func `no task of an empty file is adopted that has its final name`(
    state: DownloadState
  ) async throws {
    let layout = try fixture.layout("a")
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data().write(to: URL(filePath: layout.finalPath))
    let file = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") { record in
      record.state = state
      record.expected = 0
      record.fileIdentity = file
    }
    try await launch(with: [try task(from: 0, received: 0)]) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.reached(.completed, "a")
    }
    #expect(FileIdentity(ofFileAt: layout.finalPath) == file)
    #expect(try partialSize() == nil)
  }

  @Test func `a pause that is stored before the adoption is committed cancels the task`()
    async throws
  {
    try interrupt()
    try await launch(with: [try task(from: 40)], change: .pause) { session in
      #expect(session.calls == [.cancel(Self.id)])
      let record = try fixture.record("a")
      #expect(record.state == .paused)
    }
    #expect(try fixture.record("a").received == 40)
  }

  @Test func `a cancel that is stored before a body is read again cancels its task`() async throws {
    try interrupt()
    let left = try task(from: 0, received: 100, .ended, isDelivered: true)
    try await launch(with: [left], change: .cancel) { session in
      #expect(session.calls == [.cancel(Self.id)])
      try await fixture.reached(.cancelled, "a")
    }
    #expect(fixture.transport.started.isEmpty)
    #expect(try partialSize() == nil)
  }

  @Test func `a retry that is stored before a body is read again does not discard the body`()
    async throws
  {
    try interrupt { record in
      record.state = .failedRetryable
      record.nextRetryAt = Date(timeIntervalSinceNow: 3_600)
    }
    let left = try task(from: 0, received: 100, .ended, isDelivered: true)
    try await launch(with: [left], change: .resume(immediately: false)) { session in
      #expect(session.calls == [.adopt(Self.id)])
      let record = try fixture.record("a")
      #expect(record.received == 0)
    }
    #expect(fixture.transport.started.isEmpty)
  }

  @Test func `of two ended tasks the one with a delivered body is kept`() async throws {
    try interrupt { $0.received = 0 }
    let left = [
      try task(Self.id, from: 0, received: 10, .ended, isDelivered: true),
      try task(Self.id + 1, from: 0, received: 90, .ended),
    ]
    try await launch(with: left, awaiting: 2) { session in
      #expect(session.calls == [.cancel(Self.id + 1), .adopt(Self.id)])
    }
  }

  @Test func `only bytes of downloads that may continue from them are kept`() async throws {
    try fixture.add("b")
    try fixture.change("a") { $0.state = .running }
    let ids = [try fixture.record("a").id, try fixture.record("b").id, "unknown"]
    let left = [try task(from: 0)]
    try await launch(with: left, keeping: ids, awaiting: 3) { session in
      #expect(
        session.calls == [
          .discardBytes(recordID: ids[1]), .discardBytes(recordID: ids[2]), .adopt(Self.id),
        ]
      )
    }
  }

  @Test func `an engine leaves the tasks of downloads outside its scope alone`() async throws {
    try fixture.add("b")
    let session = ManualBackgroundTransport(
      tasks: fixture.transport,
      left: [try task(of: "b", from: 0)]
    )
    var options = EngineOptions()
    options.scope = [fixture.url("a")]
    let engine = try DownloadEngine(store: fixture.store, transport: session, options: options)
    try await fixture.running(engine) {
      // The engine has handled the tasks before it starts a download.
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.url == fixture.url("a"))
    }
    #expect(session.calls.isEmpty)
    #expect(try fixture.record("b").state == .waiting)
  }
}
