internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ResumeData
internal import Synchronization

/// A task of a background session: takes what the network brings into its file.
final class HeldTask: TaskSink {
  private struct State: Sendable {
    /// Whoever hears of the task; `nil` after the application has died.
    var sink: (any TaskSink)?
    var work: TaskID?
    var head: ResponseHead?
    var held: Int64
    /// Where the body of the response begins.
    var start: Int64 = 0
    /// Why the task cannot go on.
    var failure: TaskFailure?
    var outcome: TaskOutcome?
    var resumeData: Data?
    var isSuspended = false
    var isSilent = false
    var isCanceling = false
    /// Whether it ends only to leave resume data, from which it goes on.
    var isAsked = false
  }

  let id: TaskID
  let file: HeldFile
  let request: TaskRequest
  private let system: ResumeData.Consumer
  private let leavesResumeData: @Sendable () -> Bool
  private let asksForResumeData:
    @Sendable (_ head: ResponseHead, _ held: Int64, _ total: Int64?) -> Bool
  private let onEnd: @Sendable (HeldTask) -> Void
  // Held for a look, and never while a sink is told something.
  private let state: Mutex<State>

  /// Makes a task; `onEnd` is called when it has ended, before its sink hears of it.
  ///
  /// `asksForResumeData` hears of each arrival, and says whether the task is to leave resume data
  /// now.
  init(
    id: TaskID,
    request: TaskRequest,
    file: HeldFile,
    sink: (any TaskSink)?,
    system: ResumeData.Consumer,
    leavesResumeData: @escaping @Sendable () -> Bool,
    asksForResumeData:
      @escaping @Sendable (
        _ head: ResponseHead, _ held: Int64, _ total: Int64?
      ) -> Bool,
    onEnd: @escaping @Sendable (HeldTask) -> Void
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

  /// The task of the network that works for it.
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

  /// Whether a sink hears of the task.
  var hasSink: Bool { state.withLock { $0.sink != nil } }

  var isCanceling: Bool {
    get { state.withLock { $0.isCanceling } }
    set { state.withLock { $0.isCanceling = newValue } }
  }

  /// Whether anything happens to it.
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

  /// The application has died.
  func letGo() {
    state.withLock { state in
      state.sink = nil
      // What it leaves is for the next process.
      state.isAsked = false
    }
  }

  /// Another one hears of the task, from here on.
  func setSink(_ sink: any TaskSink) {
    state.withLock { $0.sink = sink }
  }

  /// Whether it has ended only to leave resume data.
  var isAsked: Bool {
    state.withLock { $0.isAsked && !$0.isCanceling && $0.outcome == .cancelled }
  }

  /// How the task has ended, once it has: its sink, its last response and what it leaves.
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
      // What an earlier task has left is continued by its rest, and by nothing else.
      let verdict = ResponseVerdict(
        head,
        offset: file.kept,
        expected: nil,
        validator: file.validator,
        now: Date()
      )
      guard case .write(let offset, _) = verdict else {
        return fail("the server has sent another part than the rest")
      }
      start = offset
    }
    do {
      try file.cut(to: start)
    } catch {
      return fail("the file cannot be cut: \(error)")
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
    // The system keeps the file for nothing else.
    if outcome != .completed, state.withLock({ $0.resumeData == nil }) { file.remove() }
    onEnd(self)
  }

  // MARK: -

  private func fail(_ message: String) -> BodyDisposition {
    state.withLock { $0.failure = TaskFailure(code: .unknown, message: message) }
    return .cancel
  }

  /// What the system makes of what has arrived: something only where the whole was asked for and a
  /// validator tells two versions of it apart.
  private static func resumeData(
    of request: TaskRequest,
    _ file: HeldFile,
    _ head: ResponseHead?,
    _ held: Int64,
    _ system: ResumeData.Consumer
  ) -> Data? {
    let old = request.resumeData.flatMap { try? ResumeData(Array($0)) }
    let tag = head.map { $0["ETag"] } ?? old?.entityTag
    let date = head.map { $0["Last-Modified"] } ?? old?.lastModified
    guard request.offset == 0, held > 0, Validator(entityTag: tag, lastModified: date) != nil
    else { return nil }
    var draft = ResumeData.Draft(
      url: request.url,
      received: held,
      file: .temporaryName(String(file.path.split(separator: "/").last ?? "")),
      entityTag: tag,
      lastModified: date
    )
    // Systems before iOS 12 write property lists, and iOS 10 requests that it cannot read itself.
    let request = ResumeData.Draft.Request(url: request.url)
    draft.originalRequest = request
    draft.currentRequest = request
    let form: ResumeData.Form = system == .identity ? .keyedArchive : .xml
    return (try? ResumeData(draft, form: form)).map { Data($0.bytes) }
  }
}
