internal import DownloadStore
internal import Synchronization

/// The digest of a partial file, computed while the file is written.
///
/// The transport's thread hands bytes over and goes on; a worker takes them on a thread of its own,
/// after it has read what was there before. The worker ends with the last reference to this.
final class StreamedDigest: Sendable {
  /// Runs work on a thread that may wait for a disk.
  typealias StartWork = @Sendable (@escaping @Sendable () -> Void) -> Void

  private typealias Waiting = CheckedContinuation<Result<Digest, PartialFile.Failure>, Never>

  private struct State {
    var backlog: DigestBacklog
    var isWorking = false
    var failure: PartialFile.Failure?
    var waiting: [Waiting] = []
  }

  /// What the worker does, or whom it tells at its end.
  private enum Turn {
    case take(DigestBacklog.Step)
    case end([Waiting], PartialFile.Failure?)
  }

  /// How the digest is computed.
  let algorithm: Digest.Algorithm
  private let file: PartialFile
  private let startWork: StartWork
  // Held for the copy of some kilobytes at most: the writer adds, the worker takes.
  private let state: Mutex<State>
  // Used by the worker alone, of which there is one at a time, and read when there is none.
  private let hasher: Mutex<DigestHasher>

  /// Begins with what the file has, which is read at once.
  init(
    of file: PartialFile,
    _ algorithm: Digest.Algorithm,
    readLength: Int64 = 1 << 20,
    capacity: Int = 4 << 20,
    startWork: @escaping StartWork = EngineEnvironment.live.startLongWork
  ) {
    self.file = file
    self.startWork = startWork
    self.algorithm = algorithm
    state = Mutex(
      State(
        backlog: DigestBacklog(
          end: file.position,
          readLength: readLength,
          capacity: capacity
        )
      )
    )
    hasher = Mutex(DigestHasher(algorithm))
    change { _ in }
  }

  /// The bytes that had to be read from the file.
  var bytesRead: Int64 { state.withLock { $0.backlog.bytesRead } }

  // MARK: The writer's calls

  /// Takes bytes that were written at the file's position.
  func append(_ bytes: Span<UInt8>) {
    change { $0.backlog.append(bytes) }
  }

  /// The next bytes go to `offset`; said before the file is changed.
  func seek(to offset: Int64) {
    change { $0.backlog.seek(to: offset) }
  }

  // MARK: The engine's call

  /// The digest of all bytes up to the position, once the last ones are taken.
  ///
  /// For the end, when nothing is written any more.
  ///
  /// - Throws: `PartialFile.Failure` when the file cannot be read.
  func digest() async throws(PartialFile.Failure) -> Digest {
    try await withCheckedContinuation { continuation in
      change { $0.waiting.append(continuation) }
    }
    .get()
  }

  // MARK: The worker

  /// Changes the state, and has a worker go on from there unless one does.
  private func change(_ change: (inout State) -> Void) {
    let begins = state.withLock { state in
      change(&state)
      defer { state.isWorking = true }
      return !state.isWorking
    }
    guard begins else { return }
    startWork { [weak self] in
      while let self, self.takeNext() {}
    }
  }

  /// Takes the next bytes; false when there were none, and the worker has ended.
  private func takeNext() -> Bool {
    let turn = state.withLock { state -> Turn in
      let isStuck = state.failure != nil && !state.backlog.isOutdated
      if !isStuck, let step = state.backlog.next() { return .take(step) }
      state.isWorking = false
      defer { state.waiting = [] }
      return .end(state.waiting, state.failure)
    }
    switch turn {
    case .take(.hash(let bytes)): hasher.withLock { $0.update(bytes.span) }
    case .take(.read(let part)): read(part)
    case .take(.reset):
      hasher.withLock { $0 = DigestHasher(algorithm) }
      state.withLock { $0.failure = nil }
    case .end(let waiting, let failure):
      tell(waiting, failure)
      return false
    }
    return true
  }

  private func read(_ part: Range<Int64>) {
    do throws(PartialFile.Failure) {
      let bytes = try file.read(part)
      hasher.withLock { $0.update(bytes.span) }
    } catch {
      // A file that is cut to begin anew is no failure.
      state.withLock { if !$0.backlog.isOutdated { $0.failure = error } }
    }
  }

  private func tell(_ waiting: [Waiting], _ failure: PartialFile.Failure?) {
    guard !waiting.isEmpty else { return }
    let result: Result<Digest, PartialFile.Failure> =
      failure.map { .failure($0) } ?? .success(hasher.withLock { $0.digest })
    for continuation in waiting { continuation.resume(returning: result) }
  }
}
