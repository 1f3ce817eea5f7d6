internal import DownloadSync
internal import Foundation

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A process that transfers on behalf of a supervisor.
struct Worker: Sendable {
  /// The environment variables by which a supervisor speaks to its worker.
  enum Variable {
    /// The supervisor's process id: marks a worker.
    static let supervisor = "DLSTORE_WORKER"
    /// How the worker before ended; none before the first.
    static let previousExit = "DLSTORE_PREVIOUS_EXIT"
  }

  /// What a worker tells its supervisor, one byte each.
  enum Note: UInt8, Sendable, CaseIterable {
    /// The engine is up.
    case ready = 0x72
    /// A download failed for good.
    case failed = 0x66
  }

  /// The descriptor to which notes are written.
  static let notesDescriptor: Int32 = 3

  /// This process as a worker; `nil` when nobody supervises it.
  static let current = Worker(ProcessInfo.processInfo.environment)

  /// How the engine before ended.
  let previousExit: EngineOptions.PreviousExit
  /// Whether this is not the first worker of its command.
  let isRestarted: Bool

  private init?(_ environment: [String: String]) {
    guard let text = environment[Variable.supervisor], let supervisor = pid_t(text) else {
      return nil
    }
    #if os(Linux)
      Self.tellKernel()
      // The supervisor may have gone before that.
      guard getppid() == supervisor else { _exit(ExitStatus.failed.rawValue) }
    #endif
    let exit = environment[Variable.previousExit]
    previousExit = exit == "crashed" ? .crashed : .innocent
    isRestarted = exit != nil
  }

  /// Ends this process as a crash would, if a supervisor is there to start another one.
  @Sendable static func endIfSupervised() {
    if current != nil { abort() }
  }

  /// Tells the supervisor something.
  func tell(_ note: Note) {
    _ = unsafe withUnsafeBytes(of: note.rawValue) {
      unsafe write(Self.notesDescriptor, $0.baseAddress, 1)
    }
  }

  #if os(Linux)
    /// Has the kernel end this process with the supervisor, and name it like that.
    private static func tellKernel() {
      // `prctl` takes a variable number of arguments, which Swift does not import. Passed as words
      // they lie where it looks for them, on x86-64 and on arm64.
      typealias Function = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
      guard let symbol = unsafe dlsym(nil, "prctl") else { return }
      let prctl = unsafe unsafeBitCast(symbol, to: Function.self)
      let setParentDeathSignal: Int32 = 1
      _ = prctl(setParentDeathSignal, UInt(SIGKILL), 0, 0, 0)
      // The process was started as `/proc/self/exe`, and would be called `exe`.
      let setName: Int32 = 15
      let name = CommandLine.arguments.first?.split(separator: "/").last ?? "dlstore"
      _ = unsafe String(name).withCString { prctl(setName, UInt(bitPattern: $0), 0, 0, 0) }
    }
  #endif
}
