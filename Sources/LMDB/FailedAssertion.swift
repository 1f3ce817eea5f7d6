internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What happens when LMDB meets a page that cannot be.
///
/// LMDB checks some of its pages by assertions: a damaged one ends the process with `SIGABRT`, since
/// there is no way back from inside the C library. ``Environment/checkPages()`` finds such pages
/// beforehand.
public enum FailedAssertion {
  private static let exitStatus = Atomic<Int32>(-1)

  /// Has a failed assertion end the process with that exit status and a message on standard error,
  /// in place of `SIGABRT`.
  ///
  /// For command line tools. It holds for environments opened afterwards. Nothing is written: what
  /// a transaction had not committed is undone. The corresponding C function is
  /// `mdb_env_set_assert`.
  public static func exitProcess(status: Int32) {
    exitStatus.store(status, ordering: .relaxed)
  }

  /// Called by LMDB; when it returns, the process is aborted.
  static func report(_ environment: OpaquePointer?, _ message: UnsafePointer<CChar>?) {
    let status = exitStatus.load(ordering: .relaxed)
    guard status >= 0 else { return }
    let place = unsafe environment.flatMap { unsafe environmentPath($0) } ?? "the store"
    let detail = unsafe message.map { unsafe String(cString: $0) } ?? ""
    let text = Array("\(place) is damaged: a page cannot be read (\(detail))\n".utf8)
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    _exit(status)
  }
}
