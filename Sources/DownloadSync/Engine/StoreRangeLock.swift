internal import SystemInterface

/// A lock on one byte of a store's `data.mdb`: the engine of the store holds one, and each process whose
/// command runs for a download holds one for it.
///
/// A user may delete or replace `engine.lock` while an engine runs, and a lock on the deleted file
/// excludes nobody. `data.mdb` cannot be replaced unnoticed: no process replaces it while another one
/// has the store open (decision 0060), and an engine has it open.
///
/// The bytes are far beyond any data, and before those that `DataFileLock` uses. The lock belongs to
/// an open file description (`F_OFD_SETLK`): it conflicts within a process, closing another descriptor
/// does not release it, and it ends with the process.
package struct StoreRangeLock: Sendable {
  private let descriptor: Int32
  private let byte: off_t

  private static let engineByte: off_t = 1 << 62 - 1

  /// The first of the bytes for hooks.
  private static let hookBytes: off_t = 1 << 61

  /// Opens the data file in a folder for the lock of its engine; `nil` if there is none, or if it cannot
  /// be written.
  init?(storePath: String) {
    self.init(storePath, Self.engineByte)
  }

  /// Opens the data file in a folder for the lock on the hooks of a download; `nil` as for an engine.
  ///
  /// - Parameters:
  ///   - id: The id of the record.
  ///   - storePath: The folder of the store.
  package init?(ofHooksFor id: String, storePath: String) {
    // Two of 16 downloads with almost equal ids share a byte, which delays a command.
    let number = UInt64(id, radix: 16) ?? 0
    self.init(storePath, Self.hookBytes + off_t(number >> 4))
  }

  private init?(_ storePath: String, _ byte: off_t) {
    self.byte = byte
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    descriptor = open("\(storePath)/data.mdb", flags)
    guard descriptor >= 0 else { return nil }
  }

  /// Takes the lock without waiting.
  ///
  /// - Returns: Whether no other process has it. A file system or a kernel without such locks has none.
  package func take() -> Bool {
    var lock = range(Int16(F_WRLCK))
    while fcntl(descriptor, Self.attempt, &lock) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES: return false
      default: return true
      }
    }
    return true
  }

  /// Whether an engine has the lock.
  var isTaken: Bool {
    var lock = range(Int16(F_WRLCK))
    guard fcntl(descriptor, Self.query, &lock) == 0 else { return false }
    return lock.l_type != Int16(F_UNLCK)
  }

  /// Releases the lock and closes the file.
  ///
  /// Not with `close` alone: a child that is between `fork` and `exec` still has the descriptor.
  package func release() {
    var lock = range(Int16(F_UNLCK))
    _ = fcntl(descriptor, Self.attempt, &lock)
    close(descriptor)
  }

  #if canImport(Darwin)
    private static let (query, attempt): (Int32, Int32) = (92, 90)
  #else
    // F_OFD_GETLK and F_OFD_SETLK, which <fcntl.h> declares with _GNU_SOURCE alone.
    private static let (query, attempt): (Int32, Int32) = (36, 37)
  #endif

  private func range(_ type: Int16) -> flock {
    var lock = flock()
    lock.l_type = type
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = byte
    lock.l_len = 1
    return lock
  }
}
