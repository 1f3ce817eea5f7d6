public import DownloadSync
public import FaultServer
internal import Synchronization

/// A sink that keeps what it heard, and checks the contract between it and its transport.
public final class RecordingSink: TaskSink {
  /// What a sink has heard so far.
  public struct Record: Sendable {
    /// The heads, in their order.
    public var heads: [ResponseHead] = []
    /// The bytes of the body.
    public var byteCount: Int64 = 0
    /// The calls that brought them.
    public var chunkCount = 0
    /// Whether all bytes were those of the body, each at its place.
    public var isIntact = true
    /// The ends; one is right.
    public var outcomes: [TaskOutcome] = []
    /// Calls that came while another one was running, or after the end.
    public var violationCount = 0
    fileprivate var isInside = false
  }

  /// Answers a head.
  public typealias HeadHandler = @Sendable (ResponseHead) -> BodyDisposition
  /// Answers bytes.
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

  /// A sink that expects a body from an offset on.
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

  /// What was heard so far.
  public var record: Record { state.withLock { $0 } }

  /// The first response's status; zero without a response.
  public var status: Int { record.heads.first?.status ?? 0 }

  /// Waits for the end.
  public func outcome() async -> TaskOutcome? {
    await ends.first { _ in true }
  }

  /// Waits for the first bytes.
  public func hasBytes() async {
    await firstBytes.first { _ in true }
  }

  /// Notes a head.
  public func receive(_ head: ResponseHead) -> BodyDisposition {
    enter()
    defer { leave() }
    state.withLock { $0.heads.append(head) }
    return onHead(head)
  }

  /// Notes bytes, and compares them.
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

  /// Notes the end.
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
  /// The code of a failure, so that a test need not know the text.
  public var failureCode: TaskFailure.Code? {
    guard case .failed(let failure) = self else { return nil }
    return failure.code
  }
}
