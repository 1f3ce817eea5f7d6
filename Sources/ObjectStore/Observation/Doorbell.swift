#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The file `changes` in the store's folder, written after each commit so that other processes that
/// watch it look.
///
/// The data file itself will not do: its events come before the commit can be seen.
final class Doorbell: Sendable {
  let path: String
  /// Negative when the file cannot be written: observers in other processes then look by
  /// themselves, once a second.
  private let descriptor: Int32

  /// Makes the file unless it is there.
  init(folder: String, isReadOnly: Bool) {
    path = folder + "/changes"
    descriptor = isReadOnly ? -1 : unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Has the watchers of other processes look.
  ///
  /// Costs about a microsecond and no wait for the disk. A ring that fails is made up for by their
  /// own looking.
  func ring() {
    guard descriptor >= 0 else { return }
    var byte: UInt8 = 1
    _ = unsafe pwrite(descriptor, &byte, 1, 0)
  }
}
