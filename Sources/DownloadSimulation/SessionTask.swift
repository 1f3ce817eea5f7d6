internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ResumeData
internal import SystemInterface

/// A task of a background session, which writes the received bytes to its file.
final class SessionTask: TaskSink {
  private struct State: Sendable {
    /// The application's sink; `nil` after the application has died.
    var sink: (any TaskSink)?
    var work: TaskID?
    var head: ResponseHead?
    var held: Int64
    /// The offset of the response's body in the file.
    var start: Int64 = 0
    /// The failure that prevents the task from continuing.
    var failure: DownloadFailure?
    var outcome: TaskOutcome?
    var resumeData: Data?
    var isSuspended = false
    var isSilent = false
    var isCanceling = false
    /// Whether the task ends only to leave resume data, and then continues.
    var isAsked = false
  }

  let id: TaskID
  let file: SessionFile
  let request: TaskRequest
  private let system: URLSessionResumeData.Consumer
  private let leavesResumeData: @Sendable () -> Bool
  private let asksForResumeData:
    @Sendable (_ head: ResponseHead, _ held: Int64, _ total: Int64?) -> Bool
  private let onEnd: @Sendable (SessionTask) -> Void
  // Held for short accesses; never during a call to a sink.
  private let state: Mutex<State>

  /// Creates a task.
  ///
  /// `onEnd` is called when the task has ended, before its sink. `asksForResumeData` is called when
  /// bytes arrive and returns whether the task must leave resume data now.
  init(
    id: TaskID,
    request: TaskRequest,
    file: SessionFile,
    sink: (any TaskSink)?,
    system: URLSessionResumeData.Consumer,
    leavesResumeData: @escaping @Sendable () -> Bool,
    asksForResumeData:
      @escaping @Sendable (
        _ head: ResponseHead, _ held: Int64, _ total: Int64?
      ) -> Bool,
    onEnd: @escaping @Sendable (SessionTask) -> Void
  ) {
    self.id = id
    self.request = request
    self.file = file
    self.system = system
    self.leavesResumeData = leavesResumeData
    self.asksForResumeData = asksForResumeData
    self.onEnd = onEnd
    state = Mutex(State(sink: sink, held: file.kept))
  }

  /// The network's task.
  var work: TaskID? {
    get { state.withLock { $0.work } }
    set { state.withLock { $0.work = newValue } }
  }

  var isSuspended: Bool {
    get { state.withLock { $0.isSuspended } }
    set { state.withLock { $0.isSuspended = newValue } }
  }

  var isSilent: Bool {
    get { state.withLock { $0.isSilent } }
    set { state.withLock { $0.isSilent = newValue } }
  }

  /// Whether the task has a sink.
  var hasSink: Bool { state.withLock { $0.sink != nil } }

  var isCanceling: Bool {
    get { state.withLock { $0.isCanceling } }
    set { state.withLock { $0.isCanceling = newValue } }
  }

  /// Whether the task makes progress.
  var moves: Bool {
    state.withLock { $0.isCanceling || !$0.isSuspended && !$0.isSilent }
  }

  var snapshot: TaskSnapshot {
    state.withLock { state in
      TaskSnapshot(
        id: id,
        recordID: request.recordID,
        bytesReceived: state.held,
        offset: request.offset,
        state: state.outcome != nil
          ? .ended : state.isCanceling ? .canceling : state.isSuspended ? .suspended : .running
      )
    }
  }

  // MARK: The application

  /// Disconnects the sink of an application that has died.
  func discard() {
    state.withLock { state in
      state.sink = nil
      // Its results are for the next process.
      state.isAsked = false
    }
  }

  /// Connects another sink.
  func setSink(_ sink: any TaskSink) {
    state.withLock { $0.sink = sink }
  }

  /// Whether the task ended only to leave resume data.
  var isAsked: Bool {
    state.withLock { $0.isAsked && !$0.isCanceling && $0.outcome == .cancelled }
  }

  /// The end of the task: its sink, its last response and its results; `nil` while it runs.
  func takeEnd() -> (
    sink: (any TaskSink)?, outcome: TaskOutcome, head: ResponseHead?, resumeData: Data?
  )? {
    state.withLock { state in
      guard let outcome = state.outcome else { return nil }
      return (state.sink.take(), outcome, state.head, state.resumeData)
    }
  }

  // MARK: The network

  func receive(_ head: ResponseHead) -> BodyDisposition {
    var start: Int64 = 0
    if file.kept > 0, head.status == 206 {
      // Bytes of an earlier task may only be continued by the rest of the same file.
      let verdict = ResponseVerdict(
        head,
        offset: file.kept,
        expected: nil,
        validator: file.validator,
        now: Date()
      )
      guard case .write(let offset, _, _) = verdict else {
        return fail("the server did not send the remaining bytes")
      }
      start = offset
    }
    do {
      try file.cut(to: start)
    } catch {
      return fail("the file cannot be truncated: \(error)")
    }
    state.withLock { state in
      state.head = head
      state.start = start
      state.held = start
    }
    return .proceed
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    do {
      try file.append(copy)
    } catch {
      return fail("the file cannot be written: \(error)")
    }
    let (sink, head, held, total) = state.withLock { state in
      state.held += Int64(copy.count)
      let length = state.head?["Content-Length"].flatMap { Int64($0) }
      return (state.sink, state.head, state.held, length.map { $0 + state.start })
    }
    sink?.report(held: held, of: total)
    guard let head, asksForResumeData(head, held, total) else { return .proceed }
    state.withLock { $0.isAsked = true }
    return .cancel
  }

  func finish(_ outcome: TaskOutcome) {
    let failure = state.withLock { $0.failure }
    let outcome = failure.map { .failed($0) } ?? outcome
    let leaves = outcome != .completed && failure == nil && leavesResumeData()
    state.withLock { state in
      state.resumeData =
        leaves ? Self.resumeData(of: request, file, state.head, state.held, system) : nil
      state.outcome = outcome
    }
    // The system keeps the file for no other purpose.
    if outcome != .completed, state.withLock({ $0.resumeData == nil }) { file.remove() }
    onEnd(self)
  }

  // MARK: -

  private func fail(_ message: String) -> BodyDisposition {
    state.withLock { $0.failure = DownloadFailure(.unknown, message) }
    return .cancel
  }

  /// The resume data for the received bytes; `nil` unless the whole file was requested and has a
  /// validator.
  private static func resumeData(
    of request: TaskRequest,
    _ file: SessionFile,
    _ head: ResponseHead?,
    _ held: Int64,
    _ system: URLSessionResumeData.Consumer
  ) -> Data? {
    let old = request.resumeData.flatMap { try? URLSessionResumeData(Array($0)) }
    let tag = head.map { $0["ETag"] } ?? old?.entityTag
    let date = head.map { $0["Last-Modified"] } ?? old?.lastModified
    guard request.offset == 0, held > 0, Validator(entityTag: tag, lastModified: date) != nil
    else { return nil }
    var draft = URLSessionResumeData.Draft(
      url: request.url,
      received: held,
      file: .temporaryName(String(file.path.split(separator: "/").last ?? "")),
      entityTag: tag,
      lastModified: date
    )
    // Systems before iOS 12 write property lists, and iOS 10 writes requests that it cannot read.
    let request = URLSessionResumeData.Draft.Request(url: request.url)
    draft.originalRequest = request
    draft.currentRequest = request
    let form: URLSessionResumeData.Form = system == .identity ? .keyedArchive : .xml
    return (try? URLSessionResumeData(draft, form: form)).map { Data($0.bytes) }
  }
}
