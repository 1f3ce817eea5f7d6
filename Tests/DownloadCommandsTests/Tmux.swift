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
      // As for a `DLStoreProcess`.
      environment += ["DLSTORE_CONFIG=", "DLSTORE_TIMEOUT=10m", "DLSTORE_LOWEST_SPEED_TIME=1h"]
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
      try server.start()
    }

    private static let environment = [
      "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash",
    ]

    private static func options(socket: String) -> [String] {
      ["-u", "-f", "/dev/null", "-S", socket]
    }

    private static func process(_ arguments: [String], socket: String) -> Process {
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = options(socket: socket) + arguments
      process.environment = environment
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

    /// Runs a command of tmux, and returns its output.
    ///
    /// Not with Foundation's `Process`: it notices the end by a descriptor that a process inherits which
    /// another test starts meanwhile. If that test waits for a thread of the pool, and this one has the
    /// last, both wait for ever.
    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
      let words =
        Self.environment.map { "\($0)=\($1)" } + [Self.program]
        + Self.options(socket: folder.path("tmux")) + arguments
      let line = "exec env -i " + words.map(Self.quoted).joined(separator: " ") + " 2>&1 </dev/null"
      guard let stream = unsafe popen(line, "re") else { throw Failure(message: "no shell") }
      var output: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = unsafe fread(&buffer, 1, buffer.count, stream), count > 0 {
        output += buffer[..<count]
      }
      let status = unsafe pclose(stream)
      let text = String(decoding: output, as: UTF8.self)
      guard status == 0 else { throw Failure(message: "tmux \(arguments.first ?? ""): \(text)") }
      return text
    }

    private static func quoted(_ word: String) -> String {
      "'\(word.replacing("'", with: "'\\''"))'"
    }
  }
#endif
