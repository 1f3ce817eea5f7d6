public import DownloadStore
public import DownloadSync
public import FaultServer
internal import SystemInterface

/// A sink that records its calls, and checks the contract between sink and transport.
public final class RecordingSink: TaskSink {
  /// The calls received so far.
  public struct Record: Sendable {
    /// The response heads, in order.
    public var heads: [ResponseHead] = []
    /// The number of body bytes.
    public var byteCount: Int64 = 0
    /// The number of calls with body bytes.
    public var chunkCount = 0
    /// Whether every byte was the body's byte at its offset.
    public var isIntact = true
    /// The outcomes; exactly one is correct.
    public var outcomes: [TaskOutcome] = []
    /// The number of calls during another call or after the end.
    public var violationCount = 0
    fileprivate var isInside = false
  }

  /// Called for each head.
  public typealias HeadHandler = @Sendable (ResponseHead) -> BodyDisposition
  /// Called for each chunk.
  public typealias BytesHandler = @Sendable (Record) -> BodyDisposition

  private let state = Mutex(Record())
  private let body: Body?
  private let offset: Int64
  private let onHead: HeadHandler
  private let onBytes: BytesHandler
  private let onFinish: @Sendable (TaskOutcome) -> Void
  private let ends: AsyncStream<TaskOutcome>
  private let end: AsyncStream<TaskOutcome>.Continuation
  private let firstBytes: AsyncStream<Void>
  private let firstByte: AsyncStream<Void>.Continuation

  /// Creates a sink that expects a body from an offset on.
  public init(
    expecting body: Body? = nil,
    from offset: Int64 = 0,
    onFinish: @escaping @Sendable (TaskOutcome) -> Void = { _ in },
    onHead: @escaping HeadHandler = { _ in .proceed },
    onBytes: @escaping BytesHandler = { _ in .proceed }
  ) {
    self.body = body
    self.offset = offset
    self.onFinish = onFinish
    self.onHead = onHead
    self.onBytes = onBytes
    (ends, end) = AsyncStream.makeStream()
    (firstBytes, firstByte) = AsyncStream.makeStream()
  }

  /// The calls received so far.
  public var record: Record { state.withLock { $0 } }

  /// The status of the first response; zero without a response.
  public var status: Int { record.heads.first?.status ?? 0 }

  /// Waits for the end, and returns the outcome.
  public func outcome() async -> TaskOutcome? {
    await ends.first { _ in true }
  }

  /// Waits for the first bytes.
  public func hasBytes() async {
    await firstBytes.first { _ in true }
  }

  /// Records a head.
  public func receive(_ head: ResponseHead) -> BodyDisposition {
    enter()
    defer { leave() }
    state.withLock { $0.heads.append(head) }
    return onHead(head)
  }

  /// Records bytes, and compares them.
  public func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    enter()
    defer { leave() }
    let place = offset + record.byteCount
    let isIntact = body?.matches(bytes, at: place) ?? true
    let count = Int64(bytes.count)
    let record = state.withLock { record in
      record.byteCount += count
      record.chunkCount += 1
      if !isIntact { record.isIntact = false }
      return record
    }
    firstByte.yield()
    return onBytes(record)
  }

  /// Records the end.
  public func finish(_ outcome: TaskOutcome) {
    enter()
    state.withLock { $0.outcomes.append(outcome) }
    leave()
    onFinish(outcome)
    end.yield(outcome)
  }

  private func enter() {
    state.withLock { record in
      if record.isInside || !record.outcomes.isEmpty { record.violationCount += 1 }
      record.isInside = true
    }
  }

  private func leave() {
    state.withLock { $0.isInside = false }
  }
}

extension TaskOutcome {
  /// The code of a failure.
  public var failureCode: DownloadFailure.Code? {
    guard case .failed(let failure) = self else { return nil }
    return failure.code
  }
}
