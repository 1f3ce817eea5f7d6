internal import DownloadStore
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The file of a download that is not complete.
///
/// Written at positions, never appended to.
///
/// One thread writes; another may sync at the same time. It is locked against other processes until
/// it is unlocked or goes.
final class PartialFile: Sendable, ProcessLock {
  /// A failed call of the file system.
  struct Failure: Error, Hashable {
    var code: Int32
    var operation: String
    /// Why the file was not used, where no error number says so.
    var refusal: LockedFile.Refusal?
  }

  private struct State {
    /// Where the next byte goes.
    ///
    /// All before it are written.
    var position: Int64
    /// All bytes before it are synced.
    var synced: Int64
    /// Counts how often the position was set back: a sync that began before says nothing of what
    /// was written since.
    var epoch = 0
    /// The first sync that failed.
    ///
    /// The kernel reports the loss once and marks the pages clean, so the next sync would succeed
    /// although their bytes never reached the disk.
    var syncFailure: Failure?
  }

  let path: String
  private let faultInjector: (any FaultInjector)?
  private let file: LockedFile
  // Held for some nanoseconds: the writing thread moves on while another asks how far it is.
  private let state: Mutex<State>

  private var descriptor: Int32 { file.descriptor }

  /// Opens the file and cuts it to `offset` bytes, which are synced; with 0 a new file takes its
  /// place.
  ///
  /// Bytes go only into a file that is known to be ours: one that this makes, or a regular one of
  /// our user with this name alone.
  init(path: String, offset: Int64, faultInjector: (any FaultInjector)? = nil) throws(Failure) {
    self.path = path
    self.faultInjector = faultInjector
    state = Mutex(State(position: offset, synced: offset))
    if offset == 0 { try Self.clear(path, faultInjector) }
    try Self.pass(faultInjector, .open(path: path), "opening \(path)")
    do throws(LockedFile.Refusal) {
      file = offset == 0 ? try LockedFile(creating: path) : try LockedFile(path, for: .writing)
    } catch {
      throw Failure(error, opening: path)
    }
    faultInjector?.didPerform(.open(path: path))
    if offset != 0 { try cut(to: offset) }
    faultInjector?.didLock(self)
  }

  /// Cuts the file to its first bytes.
  private func cut(to size: Int64) throws(Failure) {
    // Lengthening the file would invent bytes.
    guard let fileIdentity = file.fileIdentity, fileIdentity.size >= size else {
      throw Failure(code: EIO, operation: "continuing \(path), which is too short")
    }
    try Self.pass(faultInjector, .cut(path: path, size: size), "cutting \(path)")
    guard ftruncate(descriptor, off_t(size)) == 0 else {
      throw Failure(code: errno, operation: "cutting \(path)")
    }
    faultInjector?.didPerform(.cut(path: path, size: size))
  }

  /// Deletes what has the name, so that a new file can get it.
  ///
  /// The bytes may have another name, so they are left as they are.
  private static func clear(_ path: String, _ faultInjector: (any FaultInjector)?) throws(Failure) {
    let removed = FilePlacement(faultInjector: faultInjector).removePartial(path)
    if case .refused(let refusal) = removed { throw Failure(refusal, opening: path) }
  }

  /// Lets other processes use the file: the transfer is over, and nothing more is written.
  func unlock() {
    file.unlock()
  }

  /// Where the next byte goes.
  var position: Int64 { state.withLock { $0.position } }

  /// The bytes that are written and not synced.
  var unsynced: Int64 { state.withLock { $0.position - $0.synced } }

  /// The file's stamp as it is now.
  var fileIdentity: FileIdentity? { FileIdentity(ofDescriptor: descriptor) }

  /// Has the next bytes go to `offset`, which is not after the end.
  func seek(to offset: Int64) {
    state.withLock { state in
      state.position = offset
      state.synced = min(state.synced, offset)
      state.epoch += 1
    }
  }

  /// Cuts the file to nothing.
  func removeAll() throws(Failure) {
    try checkSyncs()
    try Self.pass(faultInjector, .cut(path: path, size: 0), "cutting \(path)")
    guard ftruncate(descriptor, 0) == 0 else {
      throw Failure(code: errno, operation: "cutting \(path)")
    }
    faultInjector?.didPerform(.cut(path: path, size: 0))
    seek(to: 0)
  }

  /// Writes all of the bytes at the position.
  ///
  /// - Throws: The file system's error; after a failed ``synchronize()`` always that sync's.
  func write(_ bytes: Span<UInt8>) throws(Failure) {
    try checkSyncs()
    let start = position
    let effect = Effect.write(path: path, offset: start, byteCount: bytes.count)
    try Self.pass(faultInjector, effect, "writing \(path)")
    var written = 0
    let code = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
      while written < buffer.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        let count = unsafe pwrite(
          descriptor,
          rest.baseAddress,
          rest.count,
          off_t(start) + off_t(written)
        )
        if count > 0 {
          written += count
        } else if count == 0 || errno != EINTR {
          return count == 0 ? ENOSPC : errno
        }
      }
      return 0
    }
    state.withLock { $0.position = start + Int64(written) }
    guard code == 0 else { throw Failure(code: code, operation: "writing \(path)") }
    faultInjector?.didPerform(effect)
  }

  /// Reads a part of what is written.
  ///
  /// Blocks for as long as the disk takes.
  func read(_ part: Range<Int64>) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(part.upperBound - part.lowerBound))
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        return unsafe pread(
          descriptor,
          rest.baseAddress,
          rest.count,
          off_t(part.lowerBound) + off_t(count)
        )
      }
      if got > 0 {
        count += got
      } else if got == 0 || errno != EINTR {
        // Somebody has cut the file.
        throw Failure(code: got == 0 ? EIO : errno, operation: "reading \(path)")
      }
    }
    return bytes
  }

  /// Syncs what is written, and returns up to where that is.
  ///
  /// Blocks for as long as the disk takes.
  ///
  /// - Throws: The file system's error. A failed sync is final: from then on this method and
  ///   ``write(_:)`` throw that error, until the file is opened again at a byte that an earlier sync
  ///   has made durable.
  func synchronize() throws(Failure) -> Int64 {
    try checkSyncs()
    let (end, epoch) = state.withLock { ($0.position, $0.epoch) }
    do throws(Failure) {
      try Self.pass(faultInjector, .synchronize(path: path), "syncing \(path)")
      guard Self.synchronize(descriptor) == 0 else {
        throw Failure(code: errno, operation: "syncing \(path)")
      }
    } catch {
      state.withLock { $0.syncFailure = $0.syncFailure ?? error }
      throw error
    }
    faultInjector?.didPerform(.synchronize(path: path))
    return try state.withLock { state throws(Failure) in
      // Another sync may have failed since this one began, and taken the report of the loss.
      if let failure = state.syncFailure { throw failure }
      if state.epoch == epoch { state.synced = end }
      return state.synced
    }
  }

  private static func synchronize(_ descriptor: Int32) -> Int32 {
    while true {
      #if canImport(Darwin)
        let code = fcntl(descriptor, F_FULLFSYNC)
      #else
        let code = fdatasync(descriptor)
      #endif
      // An interrupted sync has reported nothing yet.
      guard code != 0, errno == EINTR else { return code }
    }
  }

  private func checkSyncs() throws(Failure) {
    if let failure = state.withLock({ $0.syncFailure }) { throw failure }
  }

  private static func pass(
    _ faultInjector: (any FaultInjector)?,
    _ effect: Effect,
    _ operation: @autoclosure () -> String
  ) throws(Failure) {
    guard let code = faultInjector?.refusal(of: effect) else { return }
    throw Failure(code: code, operation: operation())
  }
}

extension PartialFile.Failure {
  /// The failure of an opening.
  init(_ refusal: LockedFile.Refusal, opening path: String) {
    operation = "opening \(path)"
    switch refusal {
    case .missing: code = ENOENT
    case .failed(let number): code = number
    case .locked: (code, self.refusal) = (EWOULDBLOCK, refusal)
    case .notOurs: (code, self.refusal) = (EPERM, refusal)
    }
  }
}
