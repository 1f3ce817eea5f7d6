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
    _ = write(descriptor, line.span)
  }

  private static func start() throws(CommandFailure) -> Int32 {
    guard let pipe = DescriptorPipe() else { throw failure(errno) }
    defer { close(pipe.reading) }
    var start = ProcessStart()
    start.files = [.copy(pipe.reading, as: STDIN_FILENO)]
    for output in [STDOUT_FILENO, STDERR_FILENO] {
      start.files.append(.open("/dev/null", O_WRONLY, as: output))
    }
    if Worker.current != nil {
      // To itself: the guard inherits it, although other programs do not.
      start.files.append(.copy(Worker.notesDescriptor, as: Worker.notesDescriptor))
    }
    // It lives as long as this process: whoever reads a pipe that it had inherited would wait for it.
    start.closesOthers = true
    // A group of its own, which the terminal does not signal.
    start.beginsGroup = true
    let arguments = ["/bin/sh", "-c", text]
    let (_, code) = start.start("/bin/sh", arguments: arguments, variables: .none)
    guard code == 0 else {
      close(pipe.writing)
      throw failure(code)
    }
    return pipe.writing
  }

  private static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.inputOutput, "cannot start /bin/sh: \(systemErrorText(code))")
  }
}
