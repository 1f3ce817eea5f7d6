internal import SystemInterface

/// Creates partial files from the bytes of other files.
enum PartialCopy {
  /// Creates a partial file with some bytes of another file, at the same offsets, and syncs it.
  ///
  /// It gets the modification time of that file, before which the bytes were received.
  ///
  /// A partial file of that name that no process uses is replaced: a call that was killed has left
  /// it. Blocks until the disk has finished.
  ///
  /// - Parameters:
  ///   - path: The partial file.
  ///   - source: The other file; a symbolic link is not followed.
  ///   - ranges: The bytes.
  /// - Throws: ``RecordStoreError`` with `busy` if another process is using the partial file, or with
  ///   `fileSystem`. No copy is left then.
  static func make(
    _ path: String,
    from source: String,
    copying ranges: ByteRanges
  ) throws(RecordStoreError) {
    let descriptor = open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("reading \(source)", errno) }
    defer { close(descriptor) }
    let file = try create(path)
    do throws(RecordStoreError) {
      for range in ranges.ranges {
        let code = copy(range, from: descriptor, to: file.descriptor)
        guard code == 0 else { throw failure("copying \(source) to \(path)", code) }
      }
      copyTime(from: descriptor, to: file.descriptor)
      guard fsync(file.descriptor) == 0 else { throw failure("syncing \(path)", errno) }
    } catch {
      // No record counts its bytes, which may have filled the disk.
      unlink(path)
      throw error
    }
  }

  private static func create(_ path: String) throws(RecordStoreError) -> LockedFile {
    do {
      _ = try LockedFile.delete(path)
    } catch LockedFile.Refusal.missing {
      // The usual case.
    } catch {
      throw refusal(path, error as? LockedFile.Refusal)
    }
    do throws(LockedFile.Refusal) {
      return try LockedFile(creating: path)
    } catch {
      throw refusal(path, error)
    }
  }

  private static func refusal(_ path: String, _ refusal: LockedFile.Refusal?) -> RecordStoreError {
    let reason = refusal.map { "\($0)" } ?? "it cannot be deleted"
    return RecordStoreError(
      refusal == .locked ? .busy : .fileSystem,
      "'\(path)' cannot be used: \(reason)"
    )
  }

  private static func failure(_ operation: String, _ code: Int32) -> RecordStoreError {
    RecordStoreError(.fileSystem, "\(operation): \(systemErrorText(code))")
  }

  /// Sets the modification time of a file to that of another one, as far as its file system can.
  private static func copyTime(from source: Int32, to target: Int32) {
    var status = stat()
    guard fstat(source, &status) == 0 else { return }
    _ = futimens(target, access: status.modificationTime, change: status.modificationTime)
  }

  /// Copies bytes to the same place of another file; returns the error number.
  static func copy(_ range: Range<Int64>, from source: Int32, to target: Int32) -> Int32 {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var start = range.lowerBound
    while start < range.upperBound {
      let length = Int(min(Int64(buffer.count), range.upperBound - start))
      let got = pread(source, into: &buffer, 0..<length, at: start)
      if got < 0 && errno == EINTR { continue }
      // The file has become shorter.
      guard got > 0 else { return got == 0 ? EIO : errno }
      var written = 0
      while written < got {
        let rest = buffer.span.extracting(written..<got)
        let count = pwrite(target, rest, at: start + Int64(written))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return count == 0 ? ENOSPC : errno }
        written += count
      }
      start += Int64(got)
    }
    return 0
  }
}
