internal import Dispatch
internal import SystemInterface

/// Handles Ctrl-Z for a program that draws on the terminal.
///
/// SIGTSTP runs `onSuspend`, which restores the terminal, then stops the process as without a
/// handler. When the shell continues the process, `onResume` runs. In a process group without a
/// shell, where nothing could continue the process, the kernel ignores the stop.
final class JobControl {
  private let source: any DispatchSourceSignal

  /// Starts handling SIGTSTP, which is handled when this returns; stops when the object is released.
  ///
  /// - Parameters:
  ///   - onSuspend: Called before the process stops, on a private queue.
  ///   - onResume: Called when it continues, on the same queue.
  init(onSuspend: @escaping @Sendable () -> Void, onResume: @escaping @Sendable () -> Void) {
    #if canImport(Darwin)
      // The default action would also stop the process.
      _ = SystemInterface.signal(SIGTSTP, SIG_IGN)
    #endif
    source = DispatchSource.makeSignalSource(
      signal: SIGTSTP,
      queue: DispatchQueue(label: "dlstore.job-control")
    )
    source.setEventHandler {
      onSuspend()
      Self.stopProcess()
      onResume()
    }
    // Dispatch installs the handler of a signal on another thread.
    let registered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { registered.signal() }
    source.resume()
    registered.wait()
  }

  deinit {
    source.cancel()
  }

  /// Stops this process by the default action of SIGTSTP; returns when it continues.
  ///
  /// A SIGTSTP that is already pending stops it only once, because the signal is blocked until both
  /// are pending, and SIGCONT removes the other one.
  static func stopProcess() {
    raiseWithDefaultAction(SIGTSTP)
  }
}
