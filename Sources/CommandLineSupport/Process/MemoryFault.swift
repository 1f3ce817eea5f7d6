internal import SystemInterface

/// Treats a memory fault as a damaged store, in commands that run no engine.
///
/// LMDB maps its file into memory and trusts some offsets in it; in a damaged file they may point
/// outside the map. Nothing else in such a command uses unsafe memory.
package enum MemoryFault {
  /// Installs signal handlers that exit with code 65 and print `message`.
  ///
  /// Not for a process that runs an engine: there a response may have caused the fault, and the
  /// supervisor handles it.
  package static func isCorruption(saying message: StaticString) {
    MemoryFaultExit.install(message: message, status: ExitStatus.damaged.rawValue)
  }
}
