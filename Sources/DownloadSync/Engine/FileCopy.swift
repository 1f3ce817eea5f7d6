internal import DownloadStore
internal import SystemInterface

/// Copies the missing bytes of a download from a finished file with the required digest.
///
/// It takes the place of the first task of a transfer, as if a server had sent the bytes: checkpoints,
/// commands, the digest and the rename are those of a download. Takes no lock, because the file is only
/// read: its identity is compared before the first byte and after the last one, and the digest of the
/// copy decides.
final class FileCopy: Sendable {
  /// The id of its task; differs from those of the transport.
  let id: TaskID
  let file: EqualFile
  /// The digest that the file must have before its first byte is copied; `nil` if only that of the copy
  /// is compared.
  private let digest: Digest?
  private let isCancelled = Mutex(false)

  /// The number of bytes that are copied at a time.
  ///
  /// A multiple of the block size of each file system, so that blocks can be shared.
  static let chunkLength: Int64 = 1 << 20

  /// Creates a copy.
  ///
  /// - Parameters:
  ///   - file: The finished file.
  ///   - digest: The digest to compare before the first byte is copied; `nil` for none.
  ///   - number: Differs from those of other copies of the engine.
  init(of file: EqualFile, requiring digest: Digest?, number: Int) {
    self.file = file
    self.digest = digest
    id = TaskID(rawValue: .max - UInt64(number))
  }

  /// Ends the copy after the bytes that are being written.
  func cancel() {
    isCancelled.withLock { $0 = true }
  }

  /// Copies the bytes to a transfer, and ends its task.
  ///
  /// Blocks until the disk has finished. If the finished file cannot be read, or is not the one that
  /// was found, the transfer starts over.
  func run(to transfer: Transfer) {
    do throws(SourceFailure) {
      transfer.finish(try copy(to: transfer) ? .completed : .cancelled)
    } catch {
      let message = "copying the bytes of \(file.path): \(error.message)"
      _ = transfer.end(.startOver(DownloadFailure(.fileSystem, message)))
      transfer.finish(.cancelled)
    }
  }

  /// Why the finished file is of no use.
  private struct SourceFailure: Error {
    var message: String

    static let changed = Self(message: "the file has changed")
    static let damaged = Self(message: "its bytes do not have the required digest any more")

    /// Describes a failed call.
    static func call(_ code: Int32) -> Self { Self(message: systemErrorText(code)) }
  }

  /// Copies the bytes; returns `false` if the transfer is to end before, or knows its result.
  private func copy(to transfer: Transfer) throws(SourceFailure) -> Bool {
    // Opening a device or a pipe must not block.
    let descriptor = open(file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .call(errno) }
    defer { close(descriptor) }
    try check(descriptor)
    guard try hasDigest(descriptor) else { return false }
    guard transfer.beginCopy(ofSize: file.identity.size) == .proceed else { return false }
    transfer.file.setCloneSource(descriptor)
    // The descriptor is closed before other bytes can be written.
    defer { transfer.file.setCloneSource(nil) }
    var buffer = [UInt8](repeating: 0, count: Int(Self.chunkLength))
    var start = transfer.offset
    while start < file.identity.size {
      if isCancelled.withLock({ $0 }) { return false }
      let end = min((start / Self.chunkLength + 1) * Self.chunkLength, file.identity.size)
      let count = try read(descriptor, into: &buffer, start..<end)
      guard transfer.receive(part: buffer.span.extracting(..<count)) == .proceed else {
        // The last byte also ends the task.
        if start + Int64(count) == file.identity.size { try check(descriptor) }
        return false
      }
      start += Int64(count)
    }
    try check(descriptor)
    return true
  }

  /// Compares the digest of the file, if it is to be compared; returns `false` if the copy was cancelled.
  private func hasDigest(_ descriptor: Int32) throws(SourceFailure) -> Bool {
    guard let digest else { return true }
    var hasher = DigestHasher(digest.algorithm)
    var buffer = [UInt8](repeating: 0, count: Int(Self.chunkLength))
    var start: Int64 = 0
    while start < file.identity.size {
      if isCancelled.withLock({ $0 }) { return false }
      let end = min(start + Self.chunkLength, file.identity.size)
      let count = try read(descriptor, into: &buffer, start..<end)
      hasher.update(buffer.span.extracting(..<count))
      start += Int64(count)
    }
    guard hasher.digest == digest else { throw .damaged }
    return true
  }

  /// Compares the open file with the one that was found.
  private func check(_ descriptor: Int32) throws(SourceFailure) {
    guard FileIdentity(ofDescriptor: descriptor) == file.identity else { throw .changed }
  }

  /// Reads bytes of a range, and returns how many.
  private func read(
    _ descriptor: Int32,
    into buffer: inout [UInt8],
    _ range: Range<Int64>
  ) throws(SourceFailure) -> Int {
    while true {
      let count = pread(descriptor, into: &buffer, 0..<range.count, at: range.lowerBound)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw count == 0 ? .changed : .call(errno) }
      return count
    }
  }
}
