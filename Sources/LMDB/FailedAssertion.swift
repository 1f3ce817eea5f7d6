internal import SystemInterface

/// The reaction to a failed assertion in LMDB.
///
/// LMDB asserts properties of some pages. If a damaged page fails an assertion, LMDB ends the
/// process with `SIGABRT`, because the C library cannot return from there.
/// ``Environment/checkPages()`` finds such pages beforehand.
///
/// ```swift
/// FailedAssertion.exitProcess(status: 3)
/// let environment = try Environment.open("/var/lib/notes")
/// ```
public enum FailedAssertion {
  private static let exitStatus = Atomic<Int32>(-1)

  /// Makes a failed assertion exit the process with `status` and a message on standard error,
  /// instead of `SIGABRT`.
  ///
  /// For command-line tools. Applies to environments that are opened later. Uncommitted changes are
  /// lost. The corresponding C function is `mdb_env_set_assert`.
  public static func exitProcess(status: Int32) {
    exitStatus.store(status, ordering: .relaxed)
  }

  /// Handles a failed assertion; if this returns, LMDB aborts the process.
  static func report(path: String?, message: String?) {
    let status = exitStatus.load(ordering: .relaxed)
    guard status >= 0 else { return }
    let place = path ?? "the store"
    let text = Array("\(place) is damaged: a page is not valid (\(message ?? ""))\n".utf8)
    _ = write(STDERR_FILENO, text.span)
    _exit(status)
  }
}
