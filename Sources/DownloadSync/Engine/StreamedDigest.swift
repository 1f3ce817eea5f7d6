internal import DownloadStore
internal import SystemInterface

/// The digest of a partial file, computed while the file is written.
///
/// The transport's thread appends bytes and continues. A worker hashes them on another thread,
/// after it has read the bytes that were in the file before. The worker stops when the last
/// reference to this object is released.
final class StreamedDigest: Sendable {
  /// Runs work on a thread that may block for a disk.
  typealias StartWork = @Sendable (@escaping @Sendable () -> Void) -> Void

  private typealias Waiting = CheckedContinuation<Result<Digest, PartialFile.Failure>, Never>

  private struct State {
    var backlog: DigestBacklog
    var isWorking = false
    var failure: PartialFile.Failure?
    var waiting: [Waiting] = []
  }

  /// The worker's next step, or the callers to resume when there is none.
  private enum Turn {
    case take(DigestBacklog.Step)
    case end([Waiting], PartialFile.Failure?)
  }

  /// The algorithm of the digest.
  let algorithm: Digest.Algorithm
  private let file: PartialFile
  private let startWork: StartWork
  // Held at most for a copy of some kilobytes.
  private let state: Mutex<State>
  // Used by the worker, at most one at a time, and read when no worker runs.
  private let hasher: Mutex<DigestHasher>

  /// Creates a digest and starts to read the bytes that the file already has.
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

  /// The number of bytes that had to be read from the file.
  var bytesRead: Int64 { state.withLock { $0.backlog.bytesRead } }

  // MARK: Calls by the writer

  /// Appends bytes that were written at the file's position.
  func append(_ bytes: Span<UInt8>) {
    change { $0.backlog.append(bytes) }
  }

  /// Notes that the next bytes are written at `offset`; call this before the file changes.
  func seek(to offset: Int64) {
    change { $0.backlog.seek(to: offset) }
  }

  // MARK: Call by the engine

  /// Returns the digest of all bytes up to the file's position, after hashing the remaining ones.
  ///
  /// Call this at the end, when nothing is written any more.
  ///
  /// - Throws: `PartialFile.Failure` if the file cannot be read.
  func digest() async throws(PartialFile.Failure) -> Digest {
    try await withCheckedContinuation { continuation in
      change { $0.waiting.append(continuation) }
    }
    .get()
  }

  // MARK: The worker

  /// Changes the state, and starts a worker unless one is running.
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

  /// Performs the next step; returns false if there was none and the worker has ended.
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
      // If the file was truncated during the read, the digest restarts and the error does not
      // count.
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
