#if os(Linux)
  import Foundation
  import SystemInterface
  import TestSupport

  /// A shell in a real terminal: tmux, with a server of its own.
  final class Tmux: Sendable {
    struct Failure: Error {
      var message: String
    }

    static let program = "/usr/bin/tmux"

    private let folder: TemporaryFolder
    /// The server, in the foreground: Foundation does not notice the end of a process whose daemon
    /// still has its descriptors.
    private let server: Process

    /// Starts `bash` in a window of this size, with the built `dlstore` in its path.
    init(columns: Int, lines: Int, store: String, in current: String) async throws {
      folder = try TemporaryFolder()
      let socket = folder.path("tmux")
      server = Self.process(["-D"], socket: socket)
      server.standardOutput = FileHandle.nullDevice
      server.standardError = FileHandle.nullDevice
      try Self.start(server)
      while !FileManager.default.fileExists(atPath: socket) {
        guard server.isRunning else { throw Failure(message: "the server of tmux ended") }
        try await Task.sleep(for: .milliseconds(10))
      }
      let path = try DLStoreProcess.program.deletingLastPathComponent().path
      var environment = ["DLSTORE_STORE=\(store)", "PS1=$ ", "PATH=\(path):/usr/bin:/bin"]
      // A sanitizer's options and the transport of a test run apply to the program, too.
      let kept = ProcessInfo.processInfo.environment.filter {
        $0.key.hasSuffix("_OPTIONS") || $0.key.hasPrefix("DLSTORE_TRANSPORT")
      }
      environment += kept.map { "\($0)=\($1)" }
      try run(
        [
          "new-session", "-d", "-x", "\(columns)", "-y", "\(lines)", "-c", current, "--", "env",
        ] + environment + ["bash", "--norc", "--noprofile"]
      )
    }

    deinit {
      server.terminate()
    }

    /// Starts the server with no signal blocked: the threads of tests block most of them, and the
    /// server would not notice the end of its shell.
    private static func start(_ server: Process) throws {
      var none = sigset_t()
      var blocked = sigset_t()
      unsafe sigemptyset(&none)
      unsafe pthread_sigmask(SIG_SETMASK, &none, &blocked)
      defer { unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil) }
      try server.run()
    }

    private static func process(_ arguments: [String], socket: String) -> Process {
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = ["-u", "-f", "/dev/null", "-S", socket] + arguments
      process.environment = ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash"]
      process.standardInput = FileHandle.nullDevice
      return process
    }

    /// Types text and presses Enter.
    func type(_ text: String) throws {
      try run(["send-keys", "-l", text])
      try press("Enter")
    }

    /// Presses a key, such as `C-c`.
    func press(_ key: String) throws {
      try run(["send-keys", key])
    }

    func resize(columns: Int, lines: Int) throws {
      try run(["resize-window", "-x", "\(columns)", "-y", "\(lines)"])
    }

    /// The lines on the screen, without empty ones at the end.
    var lines: [String] {
      get throws {
        var lines = try run(["capture-pane", "-p"]).split(
          separator: "\n",
          omittingEmptySubsequences: false
        )
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map(String.init)
      }
    }

    /// Whether the cursor is visible.
    var isCursorVisible: Bool {
      get throws { try run(["display-message", "-p", "#{cursor_flag}"]) == "1\n" }
    }

    /// The columns at which the last matches of a text begin.
    func columns(of text: String, count: Int) throws -> [Int] {
      try run(["copy-mode"])
      defer { _ = try? run(["send-keys", "-X", "cancel"]) }
      return try (0..<count).map { _ in
        try run(["send-keys", "-X", "search-backward", text])
        let column = try run(["display-message", "-p", "#{copy_cursor_x}"])
        return Int(column.dropLast()) ?? -1
      }
    }

    /// Waits until the screen fulfils a condition, and returns its lines.
    @discardableResult
    func wait(until condition: ([String]) throws -> Bool) async throws -> [String] {
      let deadline = ContinuousClock.now.advanced(by: hangLimit)
      while true {
        let lines = try lines
        if try condition(lines) { return lines }
        guard ContinuousClock.now < deadline else {
          throw Failure(message: "the screen is:\n" + lines.joined(separator: "\n"))
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
      let process = Self.process(arguments, socket: folder.path("tmux"))
      let path = try folder.makeFile(UUID().uuidString, "")
      let output = try FileHandle(forWritingTo: URL(filePath: path))
      process.standardOutput = output
      process.standardError = output
      try process.start()
      process.waitUntilExit()
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try FileManager.default.removeItem(atPath: path)
      guard process.terminationStatus == 0 else {
        throw Failure(message: "tmux \(arguments.first ?? ""): \(text)")
      }
      return text
    }
  }
#endif
