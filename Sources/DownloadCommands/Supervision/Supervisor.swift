internal import CommandLineSupport

#if os(Linux)
  internal import Foundation
  internal import SystemInterface

  /// The parent of a worker process: starts it, forwards signals to it, and restarts it when a
  /// server's response has crashed it.
  ///
  /// It has a single thread and opens neither the store nor a connection.
  struct Supervisor {
    private var supervision: Supervision
    private var stop: StopSignal?
    private var echo = StopEcho()
    private var environment: [String: String]
    private let position: Int32?

    /// Creates a supervisor.
    ///
    /// - Parameters:
    ///   - failsWhenSomethingFailed: See ``EngineCommand``.
    ///   - environment: Variables that the workers receive, in addition to those of this process.
    ///   - position: The file of an ``OutputPosition``; `nil` for none.
    init(failsWhenSomethingFailed: Bool, environment: [String: String], position: Int32? = nil) {
      self.environment = environment
      self.position = position
      supervision = Supervision(failsWhenSomethingFailed: failsWhenSomethingFailed)
    }

    /// Supervises workers until one exits or the supervisor gives up; returns the exit status.
    ///
    /// Call this on the main thread of a process without other threads: it waits for signals with
    /// `sigwaitinfo`, and the kernel kills a worker when the thread that started it ends.
    func run() -> Int32 {
      var copy = self
      return copy.supervise()
    }

    private mutating func supervise() -> Int32 {
      // If SIGCHLD were ignored, as a process may inherit, `waitpid` would not report ended workers.
      _ = signal(SIGCHLD, SIG_DFL)
      let awaited = signalSet(
        StopSignal.handled.map(\.number) + [SIGCHLD, SIGTSTP, SIGCONT]
      )
      let before = blockSignals(awaited)
      var isRestart = false
      while true {
        var worker: WorkerProcess
        do {
          worker = try WorkerProcess(
            isRestart: isRestart,
            environment: environment,
            position: position,
            signalMask: before
          )
        } catch {
          Output.current.say((error as? CommandFailure)?.message ?? "\(error)")
          return ExitStatus(error).rawValue
        }
        let end = wait(for: worker, awaited)
        let report = worker.takeReport()
        if let port = report.port { environment[Worker.Variable.port] = String(port) }
        let step = supervision.step(
          after: end,
          notes: report.notes,
          commit: report.commit,
          stop: stop
        )
        switch step {
        case .end(let status, let message):
          if let message { tell(message) }
          return status
        case .restart(let message):
          tell(message)
          // If the engine was not ready, nothing was added and no transfer is to blame.
          isRestart = isRestart || report.notes.contains(.ready)
        }
      }
    }

    private func tell(_ message: String) {
      // The worker may have hidden the cursor.
      ProgressDisplay.restoreTerminal()
      Output.current.say(message)
    }

    private mutating func wait(for worker: WorkerProcess, _ awaited: sigset_t) -> ProcessEnd {
      while true {
        switch worker.change() {
        case .ended(let end): return end
        case .stopped: JobControl.stopProcess()
        case nil: break
        }
        let (number, isFromTerminal) = waitForSignal(awaited)
        guard number > 0 else { continue }
        // The worker restores the terminal before it stops, and this process stops after it: the
        // shell shows its prompt when the process that it started has stopped. The terminal stops
        // the worker itself; passed on, its signal could stop the worker again after it continued.
        if number == SIGCONT || (number == SIGTSTP && !isFromTerminal) { worker.send(number) }
        guard let signal = StopSignal.allCases.first(where: { $0.number == number }) else {
          continue
        }
        stop = stop ?? signal
        if signal == .hangUp || !echo.repeats(at: .now) { worker.send(signal.passedOnNumber) }
      }
    }
  }
#endif
