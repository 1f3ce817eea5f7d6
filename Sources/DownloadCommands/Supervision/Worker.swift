internal import CommandLineSupport
internal import DownloadSync
internal import Foundation
internal import SystemInterface

/// A process that runs the engine for a supervisor.
struct Worker: Sendable {
  /// The environment variables that a supervisor sets for its worker.
  enum Variable {
    /// The supervisor's process id: marks a worker.
    static let supervisor = "DLSTORE_WORKER"
    /// How the previous worker ended; not set for the first one.
    static let previousExit = "DLSTORE_PREVIOUS_EXIT"
    /// The token of the server that a worker of `serve` runs.
    static let token = "DLSTORE_WORKER_TOKEN"
    /// The port of the server of the previous worker.
    static let port = "DLSTORE_WORKER_PORT"
    /// The names of the variables that the supervisor sets from options and the configuration file,
    /// with spaces between them.
    static let added = "DLSTORE_WORKER_ADDED"
    /// The start of the name of a variable with the user's value of one of these.
    static let replacedPrefix = "DLSTORE_WORKER_REPLACED_"
  }

  /// Returns the changes from the environment of a supervisor to that of its worker.
  ///
  /// - Parameters:
  ///   - additions: The variables that have the effect of options and of the configuration file.
  ///   - environment: The environment of the supervisor, which is the user's.
  /// - Returns: The changed variables.
  static func changes(
    adding additions: [String: String],
    to environment: [String: String]
  ) -> [String: String?] {
    var result: [String: String?] = additions.mapValues { $0 }
    for name in additions.keys {
      if let value = environment[name] { result[Variable.replacedPrefix + name] = value }
    }
    result[Variable.added] = additions.keys.sorted().joined(separator: " ")
    return result
  }

  /// Returns the changes from the environment of a worker to that with which the user started the
  /// program, for the commands that it runs.
  ///
  /// They receive no value of an option or of the configuration file, such as a proxy's password,
  /// and none of the variables between a supervisor and its worker: a command may run `dlstore`, too.
  static func changesToUser(_ environment: [String: String]) -> [String: String?] {
    var result: [String: String?] = [:]
    for name in environment[Variable.added]?.split(separator: " ") ?? [] {
      let name = String(name)
      result.updateValue(environment[Variable.replacedPrefix + name], forKey: name)
      result.updateValue(nil, forKey: Variable.replacedPrefix + name)
    }
    for name in [
      Variable.supervisor, Variable.previousExit, Variable.added, Variable.token, Variable.port,
    ] {
      result.updateValue(nil, forKey: name)
    }
    return result
  }

  /// A note from a worker to its supervisor: one byte, and for some of them a number.
  enum Note: UInt8, Sendable, CaseIterable {
    /// The engine is ready. Followed by the number of the store's last commit (`u64`).
    case ready = 0x72
    /// A download failed permanently.
    case failed = 0x66
    /// The server of `serve` accepts connections. Followed by its port (`u16`).
    case serving = 0x73

    /// The length in bytes of the number that follows.
    fileprivate var numberLength: Int {
      switch self {
      case .ready: 8
      case .failed: 0
      case .serving: 2
      }
    }
  }

  /// What a worker has told its supervisor.
  struct Report: Sendable, Equatable {
    /// The notes.
    var notes: Set<Note> = []
    /// The number of the store's last commit when the engine was ready; `nil` if it is unknown.
    var commit: UInt64?
    /// The port of the server; `nil` for none.
    var port: UInt16?

    /// Creates a report.
    init(notes: Set<Note> = [], commit: UInt64? = nil, port: UInt16? = nil) {
      self.notes = notes
      self.commit = commit
      self.port = port
    }

    /// Decodes what was written to the pipe.
    init(_ bytes: some Sequence<UInt8>) {
      var rest = Array(bytes)[...]
      while let note = rest.popFirst().map(Note.init) {
        guard let note else { continue }
        notes.insert(note)
        guard note.numberLength > 0, rest.count >= note.numberLength else { continue }
        let number = rest.prefix(note.numberLength).reversed().reduce(UInt64(0)) {
          $0 << 8 | UInt64($1)
        }
        rest = rest.dropFirst(note.numberLength)
        if note == .ready { commit = number } else { port = UInt16(truncatingIfNeeded: number) }
      }
    }

    /// The bytes of the note that the engine is ready.
    static func ready(commit: UInt64) -> [UInt8] { bytes(of: .ready, commit) }

    /// The bytes of the note that the server accepts connections.
    static func serving(port: UInt16) -> [UInt8] { bytes(of: .serving, UInt64(port)) }

    private static func bytes(of note: Note, _ number: UInt64) -> [UInt8] {
      [note.rawValue]
        + (0..<note.numberLength).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
  }

  /// The descriptor that notes are written to.
  static let notesDescriptor: Int32 = 3

  /// This process as a worker; `nil` if it has no supervisor.
  static let current = Worker(ProcessInfo.processInfo.environment)

  /// Whether the previous worker crashed.
  ///
  /// A damaged store may have caused the crash. Then no transfer is to blame, so a command checks
  /// all pages before it starts one.
  static var followsCrash: Bool { current?.previousExit == .crashed }

  /// How the previous engine ended.
  let previousExit: EngineOptions.PreviousExit
  /// Whether an earlier worker of this command crashed.
  let isRestarted: Bool
  /// The token of the server that this worker runs; `nil` for none.
  let token: String?
  /// The port at which the server of the previous worker accepted connections; `nil` for none.
  let port: Int?

  private init?(_ environment: [String: String]) {
    guard let text = environment[Variable.supervisor], let supervisor = pid_t(text) else {
      return nil
    }
    #if os(Linux)
      Self.tellKernel()
      // The supervisor may have ended before the call above.
      guard getppid() == supervisor else { _exit(ExitStatus.failed.rawValue) }
    #endif
    // Commands of the user must not inherit it.
    _ = fcntl(Self.notesDescriptor, F_SETFD, FD_CLOEXEC)
    let exit = environment[Variable.previousExit]
    previousExit = exit == "crashed" ? .crashed : .clean
    isRestarted = exit != nil
    token = environment[Variable.token]
    port = environment[Variable.port].flatMap { Int($0) }
  }

  /// Crashes this process if it has a supervisor, which restarts it.
  @Sendable static func endIfSupervised() {
    if current != nil { abort() }
  }

  /// Tells the supervisor that the engine is ready.
  ///
  /// - Parameter commit: The number of the store's last commit, by which the supervisor knows whether
  ///   the worker changes anything.
  func tellReady(commit: UInt64) {
    _ = write(Self.notesDescriptor, Report.ready(commit: commit).span)
  }

  /// Tells the supervisor at which port the server accepts connections.
  ///
  /// The next worker uses it, too: browsers know the address, also if the port was any free one.
  func tellServing(port: UInt16) {
    _ = write(Self.notesDescriptor, Report.serving(port: port).span)
  }

  /// Sends a note to the supervisor.
  func tell(_ note: Note) {
    _ = write(Self.notesDescriptor, [note.rawValue].span)
  }

  #if os(Linux)
    /// Asks the kernel to kill this process when the supervisor ends, and to give it the program's
    /// name.
    private static func tellKernel() {
      // The process was started as `/proc/self/exe`, so the kernel named it `exe`.
      let name = CommandLine.arguments.first?.split(separator: "/").last ?? "dlstore"
      setParentDeathSignal(SIGKILL, processName: String(name))
    }
  #endif
}
