internal import DownloadStore
internal import SystemInterface

/// The exclusive lock of the engine that runs a store's transfers.
///
/// It is an advisory lock (`flock`) on the file `engine.lock` in the store's folder. The lock ends
/// with the process, even if the process is killed. The file contains the process id of the last holder,
/// for people, and whether its engine runs all downloads. A link, or a file of another user, in its place
/// is refused; see ``FolderFile``.
///
/// The engine also locks a byte of `data.mdb`, so that it excludes others after a user has deleted or
/// replaced `engine.lock`; see ``StoreRangeLock``. For that, the caller has the store open.
package final class EngineLock: Sendable {
  static let name = "engine.lock"

  private let descriptor: Int32
  /// `nil` before the store has a data file.
  private let range: StoreRangeLock?

  /// Takes the lock, and blocks the thread while it waits.
  ///
  /// A killed process holds the lock until its last thread has ended, which may take long on a busy
  /// machine. A held lock is therefore retried for the duration of `patience`, and for up to
  /// `exitPatience` while the holder is known to be terminating.
  ///
  /// - Parameters:
  ///   - storePath: The folder of the store.
  ///   - patience: How long to wait for a holder. Zero tries once.
  ///   - exitPatience: How long to wait for a holder that was killed but still has threads.
  ///   - runsAll: Whether the engine runs all downloads of the store.
  /// - Throws: ``EngineError`` with `alreadyRunning`, `cannotLock`, `diskFull` or `outOfResources`.
  package init(
    storePath: String,
    patience: Duration = .milliseconds(300),
    exitPatience: Duration = .seconds(10),
    runsAll: Bool = false
  ) throws(EngineError) {
    let descriptor: Int32
    do throws(LockedFile.Refusal) {
      descriptor = try FolderFile.openOrCreate(Self.name, in: storePath)
    } catch {
      throw EngineError(error, using: "\(storePath)/\(Self.name)")
    }
    let range = StoreRangeLock(storePath: storePath)
    let start = ContinuousClock.now
    var hasFile = false
    while true {
      hasFile = hasFile || flock(descriptor, LOCK_EX | LOCK_NB) == 0
      if hasFile, range?.take() ?? true { break }
      let code = hasFile ? EWOULDBLOCK : errno
      let holder = Self.text(of: descriptor)
      let waited = ContinuousClock.now - start
      let mayWait =
        waited < patience
        || (patience > .zero && waited < exitPatience && Self.isEnding(holder))
      guard code == EINTR || code == EWOULDBLOCK && mayWait else {
        unlockAndClose(descriptor)
        range?.release()
        throw Self.error(code, storePath: storePath, holder: holder)
      }
      usleep(10_000)
    }
    self.descriptor = descriptor
    self.range = range
    let text = Array("process \(getpid())\n\(runsAll ? "\(Self.all)\n" : "")".utf8)
    // In this order, the file always begins with a name.
    _ = pwrite(descriptor, text.span, at: 0)
    ftruncate(descriptor, off_t(text.count))
  }

  /// The error of `flock` with an error number.
  static func error(_ code: Int32, storePath: String, holder: String) -> EngineError {
    // Other codes come from file systems, such as ENOLCK from a network file system.
    guard code == EWOULDBLOCK else {
      return EngineError(
        .cannotLock,
        "\(storePath)/engine.lock cannot be locked: \(systemErrorText(code))"
      )
    }
    return EngineError(
      .alreadyRunning,
      "another engine runs on \(storePath): \(holder.isEmpty ? unknown : holder)"
    )
  }

  deinit {
    // The text stays, so that a process that still finds the file locked reads a name. In this order: an
    // engine that starts takes the file first.
    range?.release()
    unlockAndClose(descriptor)
  }

  /// Returns the process that holds the lock of a store, as `process N`; `nil` if none does.
  ///
  /// Creates no file. The answer may be outdated when it is returned; only the lock itself excludes
  /// an engine.
  package static func holder(storePath: String) -> String? {
    guard let descriptor = try? FolderFile.open(name, in: storePath, O_RDONLY) else {
      return unnamedHolder(storePath)
    }
    defer { close(descriptor) }
    // A shared lock, so that two callers do not see each other. An engine that starts now retries, but
    // not for long, so the lock ends before anything else is done.
    let isTaken = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    flock(descriptor, LOCK_UN)
    guard isTaken else { return unnamedHolder(storePath) }
    let text = text(of: descriptor)
    return text.isEmpty ? unknown : text
  }

  /// Returns the process whose engine runs all downloads of a store, as ``holder(storePath:)``; `nil` if
  /// there is none, or only some are run.
  package static func holderForAll(storePath: String) -> String? {
    guard let holder = holder(storePath: storePath),
      let descriptor = try? FolderFile.open(name, in: storePath, O_RDONLY)
    else { return nil }
    defer { close(descriptor) }
    return lines(of: descriptor).dropFirst().first == all ? holder : nil
  }

  /// The second line for an engine that runs all downloads.
  private static let all = "all downloads"
  private static let unknown = "an unknown process"

  /// Returns the text for an engine whose lock file was deleted or replaced; `nil` if there is none.
  private static func unnamedHolder(_ storePath: String) -> String? {
    guard let range = StoreRangeLock(storePath: storePath) else { return nil }
    defer { range.release() }
    return range.isTaken ? "\(unknown), whose \(name) was deleted or replaced" : nil
  }

  /// Whether the process that the lock file names was killed but still has threads.
  ///
  /// Its main thread is then a zombie. Only Linux can tell, by `/proc/<pid>/stat`.
  static func isEnding(_ holder: String) -> Bool {
    guard let process = holder.split(separator: " ").last.flatMap({ pid_t($0) }) else {
      return false
    }
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let line = text(of: descriptor)
    // The state follows the process name, which is in parentheses and may itself contain some.
    guard let name = line.lastIndex(of: ")") else { return false }
    return line[name...].dropFirst(2).first == "Z"
  }

  /// Returns the first line of a file.
  private static func text(of descriptor: Int32) -> String { lines(of: descriptor).first ?? "" }

  private static func lines(of descriptor: Int32) -> [String] {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = pread(descriptor, into: &bytes, at: 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }
}
