#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What a command that works on the store alone makes of a memory fault.
///
/// LMDB reads its file through memory and trusts some numbers in it; in a damaged file they may lead
/// outside. Nothing else in such a command touches memory by address.
enum MemoryFault {
  /// Has a memory fault end the process with exit code 65 and a message.
  ///
  /// Not for a process that transfers: there a fault may be the network's, and is the supervisor's.
  static func meansDamage() {
    for number in [SIGSEGV, SIGBUS] {
      _ = signal(number) { _ in
        let message: StaticString = "dlstore: the store is damaged: reading it led outside of it\n"
        // Only what is safe inside a signal handler.
        _ = unsafe write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
        _exit(ExitStatus.damaged.rawValue)
      }
    }
  }
}
