internal import CommandLineSupport
internal import SystemInterface

/// A process that kills the running commands when this process ends, however it ends.
///
/// A crash or a `kill -9` leaves no time to end a command, which would then run beside its repetition.
/// The guard is a shell that reads the process groups of commands from a pipe, and kills those that are
/// left when the pipe is closed, which the kernel does at the end of this process. A command registers
/// itself before it runs the user's text, so that none is missed.
///
/// The guard keeps the pipe for notes of a worker open, too: a supervisor that reads its end knows that
/// the commands were killed.
enum CommandGuard {
  private struct State {
    /// The end of the pipe that commands inherit; `nil` before the first one.
    var descriptor: Int32?
  }

  /// Held while the guard is started, and to read one field.
  private static let state = Mutex(State())

  /// The descriptor that a command registers itself on.
  static let registration: Int32 = 3

  /// The first text of each command, which registers it and then runs the text of the user.
  ///
  /// The subshell keeps a guard that was killed from ending the command with SIGPIPE.
  static let registeringText = """
    (echo "+ $$" >&3) 2>/dev/null; exec 3>&-; exec /bin/sh -c "$0"
    """

  /// Reads a line `+ GROUP` or `- GROUP` for each command that begins or ends.
  ///
  /// A service manager may send SIGTERM to all processes of a service that stops.
  private static let text = """
    trap '' HUP INT TERM
    groups=' '
    while read -r change group; do
      case $change in
      +) groups="$groups$group " ;;
      -)
        rest=${groups#* $group }
        [ "$rest" = "$groups" ] || groups="${groups%% $group *} $rest"
        ;;
      esac
    done
    for group in $groups; do kill -s KILL -- "-$group"; done
    """

  /// Returns the descriptor for the registration of commands, and starts the guard if necessary.
  ///
  /// - Throws: ``CommandFailure`` with `inputOutput` if the guard cannot be started.
  static func descriptor() throws(CommandFailure) -> Int32 {
    try state.withLock { state throws(CommandFailure) in
      if let descriptor = state.descriptor { return descriptor }
      let descriptor = try start()
      state.descriptor = descriptor
      return descriptor
    }
  }

  /// Notes that a command has ended; call it before its process id can be used again.
  static func forget(_ group: pid_t) {
    guard let descriptor = state.withLock({ $0.descriptor }) else { return }
    let line = Array("- \(group)\n".utf8)
    // One call for each line, which a pipe does not split. If the guard was killed, it has no effect.
    _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }

  private static func start() throws(CommandFailure) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw failure(errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    for output in [STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
    }
    if Worker.current != nil {
      // To itself: the guard inherits it, although other programs do not.
      unsafe posix_spawn_file_actions_adddup2(
        &actions,
        Worker.notesDescriptor,
        Worker.notesDescriptor
      )
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // A group of its own, which the terminal does not signal.
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let words = ["/bin/sh", "-c", text]
    var arguments: [UnsafeMutablePointer<CChar>?] =
      unsafe words.map { unsafe strdup($0) } + [nil]
    let environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
    defer { while let text = unsafe arguments.popLast() { unsafe free(text) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(
      &process,
      "/bin/sh",
      &actions,
      &attributes,
      arguments,
      environment
    )
    guard code == 0 else {
      close(ends[1])
      throw failure(code)
    }
    return ends[1]
  }

  private static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.inputOutput, "cannot start /bin/sh: \(systemErrorText(code))")
  }
}
