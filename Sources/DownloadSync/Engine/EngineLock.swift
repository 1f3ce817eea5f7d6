#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The right to run the transfers of a store.
///
/// It ends with the process, however that ends.
///
/// An advisory lock on `engine.lock` in the store's folder (`flock`); the file's text names the
/// holder, for people.
final class EngineLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// A process that was killed a moment ago may still be about to go, so a held lock is tried again
  /// for as long as `patience` says.
  init(storePath: String, patience: Duration = .milliseconds(300)) throws(EngineError) {
    let path = "\(storePath)/engine.lock"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw EngineError(
        .cannotLock,
        "\(path) cannot be opened: \(unsafe String(cString: strerror(errno)))"
      )
    }
    let deadline = ContinuousClock.now.advanced(by: patience)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < deadline else {
        let holder = Self.text(of: descriptor)
        close(descriptor)
        throw EngineError(
          .alreadyRunning,
          "another engine runs on \(storePath): \(holder.isEmpty ? "an unknown process" : holder)"
        )
      }
      usleep(10_000)
    }
    self.descriptor = descriptor
    let text = Array("process \(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  deinit {
    ftruncate(descriptor, 0)
    close(descriptor)
  }

  private static func text(of descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
    }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      .split(separator: "\n").first.map(String.init) ?? ""
  }
}
