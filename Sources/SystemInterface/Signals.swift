/// Returns a set of signals.
package func signalSet(_ numbers: [Int32]) -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  for number in numbers { unsafe sigaddset(&set, number) }
  return set
}

/// Blocks signals in this thread, and returns those that it blocked before.
///
/// The corresponding C function is `pthread_sigmask` with `SIG_BLOCK`.
package func blockSignals(_ set: sigset_t) -> sigset_t {
  var set = set
  var previous = sigset_t()
  unsafe pthread_sigmask(SIG_BLOCK, &set, &previous)
  return previous
}

/// Whether this process ignores a signal, for example because it was started so.
package func isIgnored(_ number: Int32) -> Bool {
  var action = sigaction()
  guard unsafe sigaction(number, nil, &action) == 0 else { return false }
  #if os(Linux)
    let handler = unsafe action.__sigaction_handler.sa_handler
  #else
    let handler = unsafe action.__sigaction_u.__sa_handler
  #endif
  // Functions cannot be compared: SIG_IGN has the bits of the number 1.
  return unsafe unsafeBitCast(handler, to: UInt.self) == 1
}

/// Raises a signal with its default action, and restores the present action and mask.
///
/// If the action is to stop the process, returns when it continues. The signal is blocked until it is
/// pending, so that one that is already pending stops the process only once.
package func raiseWithDefaultAction(_ number: Int32) {
  var original = sigaction()
  var standard = sigaction()
  #if os(Linux)
    unsafe standard.__sigaction_handler.sa_handler = SIG_DFL
  #else
    unsafe standard.__sigaction_u.__sa_handler = SIG_DFL
  #endif
  unsafe sigaction(number, &standard, &original)
  var mask = signalSet([number])
  var previousMask = blockSignals(mask)
  _ = raise(number)
  unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
  unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil)
  unsafe sigaction(number, &original, nil)
}

#if os(Linux)
  /// Waits for one of some blocked signals.
  ///
  /// The corresponding C function is `sigwaitinfo`.
  ///
  /// - Returns: Its number, or -1 and `errno`; and whether the kernel sent it, as for a key of the
  ///   terminal.
  package func waitForSignal(_ set: sigset_t) -> (number: Int32, isFromKernel: Bool) {
    var set = set
    var information = unsafe siginfo_t()
    let number = unsafe sigwaitinfo(&set, &information)
    return unsafe (number, information.si_code > 0)
  }
#endif

/// The reaction to a memory fault of this process: a message, and its end.
package enum MemoryFaultExit {
  // Written once, before the handlers that read them are installed.
  nonisolated(unsafe) private static var message: StaticString = ""
  nonisolated(unsafe) private static var status: Int32 = 0

  /// Installs handlers of `SIGSEGV` and `SIGBUS` that print a message to standard error and exit.
  ///
  /// Call this once.
  package static func install(message: StaticString, status: Int32) {
    unsafe Self.message = message
    unsafe Self.status = status
    for number in [SIGSEGV, SIGBUS] {
      _ = signal(number) { _ in
        // Async-signal-safe calls only.
        unsafe write(STDERR_FILENO, MemoryFaultExit.message)
        unsafe _exit(MemoryFaultExit.status)
      }
    }
  }
}
