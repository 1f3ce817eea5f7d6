internal import ArgumentParser
internal import DownloadSync

/// How much an engine does at one time.
struct EngineLimits: ParsableArguments {
  @Option(help: ArgumentHelp("At most so many downloads at one time.", valueName: "n"))
  var maxConcurrent = Scheduler().maximumRunning

  @Option(help: ArgumentHelp("At most so many from one host at one time.", valueName: "n"))
  var perHost = Scheduler().maximumPerHost

  @Option(
    help: ArgumentHelp(
      "At most so many bytes a second in all: 500K, 2M; K, M and G multiply by 1024 each.",
      valueName: "bytes/s"
    ),
    transform: { text in
      guard let rate = ByteAmount.parse(text) else {
        throw ValidationError("'\(text)' is no number of bytes above zero, such as 500K or 2M.")
      }
      return rate
    }
  )
  var limitRate: Int64?

  @Option(
    help: ArgumentHelp(
      "Give a download up after so many failures in a row without progress.",
      valueName: "n"
    )
  )
  var maxAttempts = RetryPolicy().maximumAttempts

  @Flag(
    help: """
      Go on with bytes of which the server gave no validator. A file that has changed meanwhile and \
      kept its size is not noticed.
      """
  )
  var continueUnvalidated = false

  @Option(help: ArgumentHelp("What moves the bytes.", valueName: "name"))
  var transport = TransportChoice.urlSession

  func validate() throws {
    try transport.validate()
    guard maxAttempts >= 1 else { throw ValidationError("--max-attempts needs at least 1.") }
    guard maxConcurrent >= 1 else { throw ValidationError("--max-concurrent needs at least 1.") }
    guard perHost >= 1 else { throw ValidationError("--per-host needs at least 1.") }
  }

  /// The options of an engine of this process.
  var engineOptions: EngineOptions {
    var options = EngineOptions()
    options.scheduler = Scheduler(maximumRunning: maxConcurrent, maximumPerHost: perHost)
    options.retry.maximumAttempts = maxAttempts
    options.continuesUnvalidated = continueUnvalidated
    options.previousExit = Worker.current?.previousExit ?? .innocent
    // A suspect that hangs the process is found out after ten seconds: until then, nobody else starts
    // that would be taken for one too.
    options.probation = .seconds(20)
    return options
  }

  /// The transport for an engine with these options.
  func makeTransport() -> any Transport {
    transport.make(connectionsPerHost: max(16, perHost), bytesPerSecond: limitRate)
  }
}
