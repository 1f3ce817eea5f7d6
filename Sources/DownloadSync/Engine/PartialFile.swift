internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The file of an incomplete download.
///
/// Bytes are written at offsets, never appended. Several threads may write different ranges, and
/// another may sync at the same time. The file is locked against other processes until ``unlock()`` is called or the last
/// reference is released.
final class PartialFile: Sendable, ProcessLock {
  /// A failed file system operation.
  struct Failure: Error, Hashable {
    var code: Int32
    var operation: String
    /// The reason why the file was not opened, if there is no error number for it.
    var refusal: LockedFile.Refusal?
    /// What another program has done to the file, if that is the reason.
    var interference: Interference?
    /// Whether the operation is tried again whatever the error number says.
    var isRetried = false
  }

  typealias Interference = FileWatch.Interference

  private struct State {
    /// The bytes that are written.
    var written: ByteRanges
    /// The bytes that are synced.
    var synced: ByteRanges
    /// The bytes that the last sync, which may still run, covers.
    var syncBegun: ByteRanges
    /// The number of times that bytes were discarded.
    ///
    /// A sync that began in an earlier epoch says nothing about the bytes written since.
    var epoch = 0
    /// The descriptor of a file with the same bytes, whose blocks the file shares if it can; `nil` for
    /// none.
    var cloneSource: Int32?
    /// What other programs have done to the file.
    var watch = FileWatch()
    /// The first sync that failed.
    ///
    /// The kernel reports the loss once and marks the pages clean, so the next sync would succeed
    /// although their bytes never reached the disk.
    var syncFailure: Failure?
  }

  let path: String
  private let faultInjector: (any FaultInjector)?
  private let file: LockedFile
  // Only held to access the fields: some threads write while another reads the progress.
  private let state: Mutex<State>

  /// The open file; not private, so that a test can let the system refuse a sync.
  var descriptor: Int32 { file.descriptor }

  /// Opens the file and truncates it after the last of some ranges, which are synced.
  ///
  /// Without ranges, a new file replaces the previous one. Bytes are only written to a file that
  /// this creates, or to a regular file of the effective user that has no other name.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - kept: The ranges.
  ///   - found: The identity of the file whose bytes were found to be those of the record; `nil` if
  ///     it could not be examined. Any other file is refused: another program has changed it since.
  ///   - faultInjector: Allows or refuses each change of the file.
  /// - Throws: The failure to open or truncate the file.
  init(
    path: String,
    keeping kept: ByteRanges,
    of found: FileIdentity? = nil,
    faultInjector: (any FaultInjector)? = nil
  ) throws(Failure) {
    self.path = path
    self.faultInjector = faultInjector
    state = Mutex(State(written: kept, synced: kept, syncBegun: kept))
    if kept.isEmpty { try Self.clear(path, faultInjector) }
    try Self.pass(faultInjector, .open(path: path), "opening \(path)")
    do throws(LockedFile.Refusal) {
      file = kept.isEmpty ? try LockedFile(creating: path) : try LockedFile(path, for: .writing)
    } catch {
      throw Failure(error, opening: path)
    }
    faultInjector?.didPerform(.open(path: path))
    if !kept.isEmpty {
      if let found { try check(found) }
      try cut(to: kept.end)
    }
    let identity = file.fileIdentity
    state.withLock { $0.watch = FileWatch(identity) }
    faultInjector?.didLock(self)
  }

  // MARK: Other programs

  /// Notes that this process is about to change the file; see ``FileWatch``.
  private func beginChange(truncatingTo size: Int64? = nil) {
    state.withLock { $0.watch.beginChange(of: file.fileIdentity, truncatingTo: size) }
  }

  /// Notes that this process is about to change the file, and may extend it.
  ///
  /// A file that another program has truncated is not extended again: that would hide from the next
  /// process that bytes are missing.
  private func beginExtension(_ operation: @autoclosure () -> String) throws(Failure) {
    beginChange()
    if let interference = state.withLock({ $0.watch.interference }), interference > .changed {
      endChange { $0 }
      throw Failure(code: EBUSY, operation: operation(), interference: interference)
    }
  }

  /// Notes that this process has changed the file.
  ///
  /// - Parameter size: Returns the size of the file after the change, given the previous one.
  private func endChange(_ size: (Int64) -> Int64) {
    state.withLock { $0.watch.endChange(of: file.fileIdentity, size) }
  }

  /// What another program has done to the file since it was opened; `nil` if nothing was noticed.
  ///
  /// A change in the moment in which this process writes, or within the resolution of the file's
  /// times, is not noticed. Costs two system calls.
  var interference: Interference? {
    let name = file.nameState(path)
    return state.withLock { state in
      state.watch.compare(with: file.fileIdentity)
      if name == .other || name == .missing { state.watch.noteReplaced() }
      return state.watch.interference
    }
  }

  /// Whether another program has done anything to the file since it was opened or emptied, also if its
  /// bytes were found to be as they should be since.
  var hadInterference: Bool { state.withLock { $0.watch.hasInterference } }

  /// Notes that the bytes were compared with what was received, and are as they should be.
  func noteVerified() {
    state.withLock { $0.watch.noteVerified() }
  }

  /// Compares the opened file with the one that was examined before.
  private func check(_ found: FileIdentity) throws(Failure) {
    guard let current = file.fileIdentity, current != found else { return }
    let interference: Interference = current.inode == found.inode ? .changed : .replaced
    throw Failure(code: EBUSY, operation: "continuing \(path)", interference: interference)
  }

  /// Whether another program has made the file longer since it was opened or emptied.
  var isExtended: Bool { state.withLock { $0.watch.isExtended } }

  /// Truncates the file.
  private func cut(to size: Int64) throws(Failure) {
    // Extending the file would add bytes that no server sent.
    guard let fileIdentity = file.fileIdentity, fileIdentity.size >= size else {
      throw Failure(code: EIO, operation: "continuing \(path), which is too short")
    }
    try Self.pass(faultInjector, .cut(path: path, size: size), "truncating \(path)")
    guard file.cut(to: size) == 0 else {
      throw Failure(code: errno, operation: "truncating \(path)")
    }
    faultInjector?.didPerform(.cut(path: path, size: size))
  }

  /// Cuts off what another program has appended after the last written byte.
  ///
  /// Only for a file that is complete: until then, space may be reserved after the written bytes.
  ///
  /// - Returns: Whether there was anything to cut off, which is synced by the next
  ///   ``synchronize()``.
  func trim() throws(Failure) -> Bool {
    try checkSyncs()
    let end = written.end
    guard let size = fileIdentity?.size, size > end else { return false }
    beginChange()
    defer { endChange { min($0, end) } }
    try cut(to: end)
    return true
  }

  /// Deletes what has the name, so that a new file can be created; see
  /// ``FilePlacement/removePartial(_:)``.
  ///
  /// The old file is not truncated, because its bytes may have another name.
  private static func clear(_ path: String, _ faultInjector: (any FaultInjector)?) throws(Failure) {
    let removed = FilePlacement(faultInjector: faultInjector).removePartial(path)
    if case .refused(let refusal) = removed { throw Failure(refusal, opening: path) }
  }

  /// Gives the complete file the permissions that its final name is to have.
  func publish() {
    file.publish()
  }

  /// Releases the lock after the transfer is over; nothing is written any more.
  func unlock() {
    file.unlock()
  }

  /// The bytes that are written.
  var written: ByteRanges { state.withLock { $0.written } }

  /// The number of bytes that are written.
  var byteCount: Int64 { state.withLock { $0.written.byteCount } }

  /// The offset of the first byte that is not written.
  var position: Int64 { state.withLock { $0.written.prefixLength } }

  /// The number of bytes written but not yet synced.
  var unsynced: Int64 { state.withLock { $0.written.byteCount - $0.synced.byteCount } }

  /// The number of bytes written since the last sync began.
  var writtenSinceSync: Int64 {
    state.withLock { $0.written.byteCount - $0.syncBegun.byteCount }
  }

  /// Sets the modification time of the complete file, and syncs it.
  ///
  /// Blocks until the disk has finished. A kill before the next commit leaves a file with another time
  /// than the record knows: the next process checks its bytes, and requests those that it cannot prove.
  ///
  /// - Returns: The identity of the file with the time; `nil` if the file system refuses it.
  /// - Throws: As ``synchronize(withTimes:)``.
  func setModificationTime(_ time: Date) throws(Failure) -> FileIdentity? {
    try checkSyncs()
    let moment = timespec(tv_sec: Int(time.timeIntervalSince1970), tv_nsec: 0)
    beginChange()
    let code = futimens(descriptor, access: moment, change: moment)
    endChange { $0 }
    guard code == 0 else { return nil }
    _ = try synchronize(withTimes: true)
    return fileIdentity
  }

  /// The current identity of the file.
  var fileIdentity: FileIdentity? { FileIdentity(ofDescriptor: descriptor) }

  /// Notes that some bytes are written again and do not count until then.
  func discard(_ range: Range<Int64>) {
    state.withLock { state in
      state.written.remove(range)
      state.synced.remove(range)
      state.syncBegun.remove(range)
      state.epoch += 1
    }
  }

  /// Truncates the file to zero bytes.
  func removeAll() throws(Failure) {
    try checkSyncs()
    try Self.pass(faultInjector, .cut(path: path, size: 0), "truncating \(path)")
    beginChange(truncatingTo: 0)
    let code = ftruncate(descriptor, 0) == 0 ? 0 : errno
    endChange { code == 0 ? 0 : $0 }
    guard code == 0 else { throw Failure(code: code, operation: "truncating \(path)") }
    state.withLock { $0.watch.noteEmptied() }
    faultInjector?.didPerform(.cut(path: path, size: 0))
    discard(0..<Int64.max)
  }

  /// Prepares the disk for a file of a size, which must not be below that of the written bytes.
  ///
  /// Blocks until the disk has finished. Reserves nothing on a file system that cannot.
  ///
  /// - Throws: The error of the file system; if another program has truncated or replaced the file,
  ///   that it has.
  func reserve(_ size: Int64, _ preallocation: Preallocation) throws(Failure) {
    let current = fileIdentity?.size ?? 0
    guard preallocation != .none, size > current else { return }
    let effect = Effect.reserve(path: path, size: size)
    try Self.pass(faultInjector, effect, "reserving \(size) bytes for \(path)")
    try beginExtension("reserving \(size) bytes for \(path)")
    var code = preallocation == .full ? Self.allocate(descriptor, current..<size) : 0
    if [EOPNOTSUPP, ENOTSUP, ENOSYS, EINVAL, ENODEV].contains(code) { code = 0 }
    if code == 0, ftruncate(descriptor, off_t(size)) != 0 { code = errno }
    endChange { code == 0 ? size : $0 }
    guard code == 0 else {
      throw Failure(code: code, operation: "reserving \(size) bytes for \(path)")
    }
    faultInjector?.didPerform(effect)
  }

  /// Reserves the space of a range at the end of a file; returns the error number.
  private static func allocate(_ descriptor: Int32, _ range: Range<Int64>) -> Int32 {
    let length = off_t(range.upperBound - range.lowerBound)
    #if canImport(Darwin)
      return preallocate(descriptor, byteCount: Int64(length)) == -1 ? errno : 0
    #else
      while true {
        let code = posix_fallocate(descriptor, off_t(range.lowerBound), length)
        guard code == EINTR else { return code }
      }
    #endif
  }

  /// Writes all bytes at an offset.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to write.
  ///   - start: The offset of the first byte.
  /// - Throws: The error of the file system; after a failed ``synchronize()``, always the error of
  ///   that sync; if another program has truncated or replaced the file, that it has.
  func write(_ bytes: Span<UInt8>, at start: Int64) throws(Failure) {
    try checkSyncs()
    let effect = Effect.write(path: path, offset: start, byteCount: bytes.count)
    try Self.pass(faultInjector, effect, "writing \(path)")
    try beginExtension("writing \(path)")
    var written = clone(bytes.count, at: start)
    var code: Int32 = 0
    while written < bytes.count, code == 0 {
      let count = pwrite(descriptor, bytes.extracting(written...), at: start + Int64(written))
      if count > 0 {
        written += count
      } else if count == 0 || errno != EINTR {
        code = count == 0 ? ENOSPC : errno
      }
    }
    state.withLock { $0.written.insert(start..<start + Int64(written)) }
    endChange { written > 0 ? max($0, start + Int64(written)) : $0 }
    guard code == 0 else { throw Failure(code: code, operation: "writing \(path)") }
    faultInjector?.didPerform(effect)
  }

  /// Lets the bytes that are written from now on share the blocks of another file, if the file system
  /// can; otherwise they are written.
  ///
  /// - Parameter source: The descriptor of a file that has the same bytes at the same offsets, open
  ///   until this is called with `nil`.
  func setCloneSource(_ source: Int32?) {
    state.withLock { $0.cloneSource = source }
  }

  /// Shares a range with the other file, and returns the number of bytes that need not be written.
  private func clone(_ count: Int, at start: Int64) -> Int {
    guard count > 0, let source = state.withLock({ $0.cloneSource }) else { return 0 }
    if cloneRange(from: source, to: descriptor, at: start, byteCount: count) == 0 { return count }
    setCloneSource(nil)
    return 0
  }

  /// Syncs the written bytes, and returns all bytes that are synced.
  ///
  /// Blocks until the disk has finished.
  ///
  /// - Parameter withTimes: Whether the times of the file are to survive a power failure, too.
  /// - Returns: The bytes that are synced.
  /// - Throws: The error of the file system. A failed sync is final: from then on this method and
  ///   ``write(_:at:)`` throw that error, until the file is opened again with bytes that an earlier
  ///   sync has made durable.
  func synchronize(withTimes: Bool = false) throws(Failure) -> ByteRanges {
    try checkSyncs()
    let (covered, epoch) = state.withLock { state in
      state.syncBegun = state.written
      return (state.written, state.epoch)
    }
    do throws(Failure) {
      try Self.pass(faultInjector, .synchronize(path: path), "syncing \(path)")
      guard Self.synchronize(descriptor, withTimes: withTimes) == 0 else {
        throw Failure(code: errno, operation: "syncing \(path)")
      }
    } catch {
      state.withLock { $0.syncFailure = $0.syncFailure ?? error }
      throw error
    }
    faultInjector?.didPerform(.synchronize(path: path))
    return try state.withLock { state throws(Failure) in
      // Another sync may have failed since this one began, and received the only report of the
      // loss.
      if let failure = state.syncFailure { throw failure }
      if state.epoch == epoch { state.synced = covered }
      return state.synced
    }
  }

  private static func synchronize(_ descriptor: Int32, withTimes: Bool) -> Int32 {
    while true {
      #if canImport(Darwin)
        let code = fcntl(descriptor, F_FULLFSYNC)
      #else
        // The cheaper call need not store the times.
        let code = withTimes ? fsync(descriptor) : fdatasync(descriptor)
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
