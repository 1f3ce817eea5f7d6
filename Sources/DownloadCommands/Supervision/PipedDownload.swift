internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import SystemInterface

/// The download of `get -o -`, whose bytes go to standard output in order while they arrive.
///
/// The bytes are in a file first: a reader may be slower than the server, and a command that was killed
/// goes on from the bytes on disk. Without `--output-folder` the file is temporary, in the folder
/// `output` of the store. It is removed with its record when all bytes are written.
struct PipedDownload: Sendable {
  /// The key of the download, or else its URL.
  private let name: String
  private let store: RecordStore
  private let writer = PipeWriter()
  private let position = OutputPosition.ofWorker()
  private let lock: ReaderLock

  /// Creates the folder for temporary files, and waits while another process removes the same file.
  ///
  /// - Throws: ``CommandFailure``; `StoreError`.
  init(_ name: String, in store: RecordStore) throws {
    (self.name, self.store) = (name, store)
    let folder = try Folder.made(at: store.temporaryFolder)
    lock = try ReaderLock(of: name, folder: folder)
  }

  /// Writes the bytes until the download has ended.
  ///
  /// - Throws: ``ClosedPipe``; ``CommandFailure``; the errors of `DownloadBytes`.
  func write() async throws {
    while try await !writeFromFirstByte() {}
  }

  /// Writes the bytes after those of earlier workers, which are read again and compared.
  ///
  /// - Returns: Whether all bytes were written; `false` if the download has dropped the bytes that were
  ///   read before this process has written one. Those that follow may be equal.
  private func writeFromFirstByte() async throws -> Bool {
    var arriving = store.bytes(of: name)
    arriving.isAwaited = true
    var iterator = arriving.makeAsyncIterator()
    let written = position.value
    var output = PipedBytes(after: written, of: position.announced)
    while true {
      let bytes: Data
      do {
        guard let next = try await iterator.next() else { break }
        bytes = next
      } catch let failure as DownloadFailure
        where [.entityChanged, .fileInUse].contains(failure.code)
        && written > 0 && position.value == written && output.prefix.byteCount > 0
      {
        return false
      }
      let new = try output.take(bytes)
      guard !new.isEmpty else { continue }
      position.announce(output.prefix)
      try await writer.write(new, position.advance(by:))
    }
    try output.end()
    return true
  }

  /// Whether nothing more happens to the download.
  var hasEnded: Bool { (try? store.record(matching: name))?.needsCommand ?? true }

  /// Waits until a task has written the bytes.
  ///
  /// - Parameters:
  ///   - writing: The task, which is cancelled if the download is not complete.
  ///   - record: The download when its run has ended.
  /// - Returns: Whether all bytes were written.
  /// - Throws: ``CommandFailure``, also with `failed` for a failure that was not shown as that of the
  ///   download; ``ClosedPipe``; `StoreError`.
  static func finish(
    _ writing: Task<Void, any Error>,
    of record: DownloadRecord?
  ) async throws -> Bool {
    if record?.state != .completed { writing.cancel() }
    do {
      try await writing.value
      return true
    } catch is CancellationError {
      return false
    } catch let failure as DownloadFailure {
      guard record?.state != .failedPermanent else { return false }
      // A finished file whose bytes are wrong stays as it is.
      let advice =
        record?.state == .completed && failure.code != .entityChanged
        ? "" : "; the same command writes the file again from its first byte"
      throw CommandFailure(.failed, failure.message + advice)
    } catch let error as EngineError {
      Output.current.say(error.message)
      return false
    }
  }

  /// Removes a temporary file that is complete with its record, unless another process reads it.
  ///
  /// - Throws: `StoreError`; `RecordStoreError`.
  func removeFile() throws {
    guard let record = try? store.record(matching: name), record.root == RootName.temporary,
      record.state == .completed, lock.isLast()
    else { return }
    try store.purge(try store.purgePlan([record], withFiles: true))
  }
}

/// A lock of a process that writes a file to standard output.
///
/// On a byte of one file, which the name of the download determines; it ends with the process. Processes that read the
/// same file share it.
private final class ReaderLock: Sendable {
  private let descriptor: Int32
  private let byte: off_t

  /// Takes the lock, and waits while another process removes the file.
  init(of name: String, folder: String) throws {
    let path = "\(folder)/.lock"
    let number = UInt64(RecordIdentity.id(forURL: name), radix: 16) ?? 0
    byte = off_t(number >> 2)
    descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(SystemCall.status(), "cannot open \(path): \(systemErrorText())")
    }
    var lock = range(F_RDLCK)
    // A file system without locks has none, and no other process is noticed there.
    while fcntl(descriptor, F_SETLKW, &lock) != 0, errno == EINTR {}
  }

  deinit { close(descriptor) }

  /// Whether no other process reads the file.
  ///
  /// From then on, others wait until this object is released.
  func isLast() -> Bool {
    var lock = range(F_WRLCK)
    return fcntl(descriptor, F_SETLK, &lock) == 0
  }

  private func range(_ type: Int32) -> flock {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = byte
    lock.l_len = 1
    return lock
  }
}
