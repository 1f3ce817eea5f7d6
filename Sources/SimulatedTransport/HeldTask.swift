internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ResumeData
internal import Synchronization

/// A task of a background session: takes what the network brings into its file, and hands it over
/// when it has ended and somebody hears.
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
  }

  let id: TaskID
  let file: HeldFile
  let request: TaskRequest
  private let leavesResumeData: @Sendable () -> Bool
  private let onEnd: @Sendable () -> Void
  // Held for a look, and never while a sink is told something.
  private let state: Mutex<State>

  /// Makes a task; `onEnd` is called right before its sink hears the end.
  init(
    id: TaskID,
    request: TaskRequest,
    file: HeldFile,
    sink: any TaskSink,
    leavesResumeData: @escaping @Sendable () -> Bool,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.id = id
    self.request = request
    self.file = file
    self.leavesResumeData = leavesResumeData
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
    state.withLock { $0.sink = nil }
  }

  /// Another one hears of the task.
  func adopt(_ sink: any TaskSink) {
    let (hasEnded, held) = state.withLock { state in
      state.sink = sink
      return (state.outcome != nil, state.held)
    }
    sink.report(held: held, of: nil)
    if hasEnded { handOver() }
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
    let (sink, held, total) = state.withLock { state in
      state.held += Int64(copy.count)
      let length = state.head?["Content-Length"].flatMap { Int64($0) }
      return (state.sink, state.held, length.map { $0 + state.start })
    }
    sink?.report(held: held, of: total)
    return .proceed
  }

  func finish(_ outcome: TaskOutcome) {
    let failure = state.withLock { $0.failure }
    let outcome = failure.map { .failed($0) } ?? outcome
    let leaves = outcome != .completed && failure == nil && leavesResumeData()
    let isHeard = state.withLock { state in
      state.resumeData = leaves ? Self.resumeData(of: request, file, state.head, state.held) : nil
      state.outcome = outcome
      return state.sink != nil
    }
    if isHeard { handOver() }
  }

  // MARK: -

  private func fail(_ message: String) -> BodyDisposition {
    state.withLock { $0.failure = TaskFailure(code: .unknown, message: message) }
    return .cancel
  }

  /// Tells the sink all that there is, and forgets the task.
  private func handOver() {
    let (sink, head, outcome, resumeData) = state.withLock { state in
      // Both the end and an adoption may ask for it.
      (state.sink.take(), state.head, state.outcome, state.resumeData)
    }
    guard let sink, let outcome else { return }
    if let resumeData { sink.receive(resumeData: resumeData) }
    var end = outcome
    if outcome == .completed, let head { end = deliver(head, to: sink) }
    if resumeData == nil { file.remove() }
    onEnd()
    sink.finish(end)
  }

  /// Hands over the file; the end that comes after it.
  private func deliver(_ head: ResponseHead, to sink: any TaskSink) -> TaskOutcome {
    let head = head.ofDelivery(byteCount: snapshot.bytesReceived, from: request.offset)
    guard sink.receive(head) == .proceed else { return .cancelled }
    var end = TaskOutcome.completed
    do {
      try file.forEachPart { part in
        if sink.receive(part) == .cancel { end = .cancelled }
        return end == .completed
      }
    } catch {
      end = .failed(TaskFailure(code: .unknown, message: "the delivered file: \(error)"))
    }
    return end
  }

  /// What the system makes of what has arrived: something only where the whole was asked for and a
  /// validator tells two versions of it apart.
  private static func resumeData(
    of request: TaskRequest,
    _ file: HeldFile,
    _ head: ResponseHead?,
    _ held: Int64
  ) -> Data? {
    let old = request.resumeData.flatMap { try? ResumeData(Array($0)) }
    let tag = head.map { $0["ETag"] } ?? old?.entityTag
    let date = head.map { $0["Last-Modified"] } ?? old?.lastModified
    guard request.offset == 0, held > 0, Validator(entityTag: tag, lastModified: date) != nil
    else { return nil }
    let draft = ResumeData.Draft(
      url: request.url,
      received: held,
      file: .temporaryName(String(file.path.split(separator: "/").last ?? "")),
      entityTag: tag,
      lastModified: date
    )
    return (try? ResumeData(draft, form: .keyedArchive)).map { Data($0.bytes) }
  }
}
