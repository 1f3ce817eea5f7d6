internal import SystemInterface

/// Treats a memory fault as a damaged store, in commands that run no engine.
///
/// LMDB maps its file into memory and trusts some offsets in it; in a damaged file they may point
/// outside the map. Nothing else in such a command uses unsafe memory.
enum MemoryFault {
  /// Installs signal handlers that exit with code 65 and a message.
  ///
  /// Not for a process that runs an engine: there a response may have caused the fault, and the
  /// supervisor handles it.
  static func isCorruption() {
    for number in [SIGSEGV, SIGBUS] {
      _ = signal(number) { _ in
        let message: StaticString =
          "dlstore: the store is damaged: an offset points outside the file\n"
        // Async-signal-safe calls only.
        _ = unsafe write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(ExitStatus.damaged.rawValue)
      }
    }
  }
}
