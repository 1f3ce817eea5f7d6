internal import SystemInterface

/// A command-line program, as its messages show it.
package struct Program: Sendable {
  /// The name, which begins each message.
  package let name: String
  /// Removes the secrets from a message.
  package let redact: @Sendable (String) -> String
  /// Returns an error's message, with the user's next step if the library's does not say it.
  package let describe: @Sendable (any Error) -> String
  /// The options of the user's command that commands in messages repeat, with a space before each;
  /// such as ` --store /data`.
  package let repeatedOptions: String

  /// Creates a description.
  package init(
    name: String,
    redact: @escaping @Sendable (String) -> String = { $0 },
    describe: @escaping @Sendable (any Error) -> String = { "\($0)" },
    repeatedOptions: String = ""
  ) {
    self.name = name
    self.redact = redact
    self.describe = describe
    self.repeatedOptions = repeatedOptions
  }

  // A lock, because each thread that prints a message reads it.
  private static let process = Mutex(Program(name: "objectstore"))

  /// The program that this process runs.
  package static var ofProcess: Program { process.withLock { $0 } }

  /// Prepares the process to run this program.
  ///
  /// Call this first, before any file is opened.
  package func begin() {
    StandardDescriptors.openMissing(sayingAs: name)
    // A write to a closed pipe then fails with EPIPE, which is handled.
    _ = signal(SIGPIPE, SIG_IGN)
    becomeProcess()
  }

  /// Makes this the program that the process runs, once its arguments are known.
  package func becomeProcess() {
    Self.process.withLock { $0 = self }
  }
}
