internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadSync

/// Options that limit what an engine does.
struct EngineLimits: ParsableArguments {
  @Option(
    name: [.customShort("j"), .customLong("max-concurrent")],
    help: ArgumentHelp(
      "The maximum number of concurrent downloads, from 1; by default 4, or --connections if that "
        + "is more.",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0, from: 1) }
  )
  var maxConcurrent: Int?

  @Option(
    help: ArgumentHelp(
      "The maximum number of downloads per host, from 1; by default 4, or --max-concurrent or "
        + "--connections if that is more.",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0, from: 1) }
  )
  var perHost: Int?

  @Option(
    help: ArgumentHelp(
      "The maximum number of connections per file, from 1, within --max-concurrent and --per-host; "
        + "by default 4.",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0, from: 1) }
  )
  var connections: Int?

  /// The maximum number of connections per file.
  var connectionsPerFile: Int { connections ?? SplitOptions().maximumConnections }

  @Option(
    help: ArgumentHelp(
      "The length below which a range of a file is not split, such as 8M.",
      valueName: "bytes"
    ),
    transform: { ByteAmountSetting(byteCount: try ByteAmount.rate($0)) }
  )
  var minSplit = ByteAmountSetting(byteCount: SplitOptions().minimumLength)

  @Option(
    help: ArgumentHelp(
      """
      How a file of known size is prepared on disk: none, sparse (full length, no space), or full \
      (space reserved, so that a full disk is found at once).
      """,
      valueName: "none|sparse|full"
    ),
    transform: EngineLimits.preallocation
  )
  var preallocate = EngineOptions().preallocation

  @Option(
    help: ArgumentHelp(
      "What is done for a --checksum (SHA-256 or SHA-512) that a finished file of the store has: "
        + "copy that file, or download.",
      valueName: "copy|download"
    ),
    transform: EngineLimits.equalFiles
  )
  var equalFiles = EngineOptions().equalFiles

  @Option(
    help: ArgumentHelp(
      "Fail downloads of files that are larger, such as 500M, or none.",
      valueName: "bytes"
    ),
    transform: ByteAmount.limit
  )
  var maxFileSize: Int64?

  @Option(
    help: ArgumentHelp(
      "The total download rate limit, such as 500K or 2M, or none; K, M and G are powers of 1024.",
      valueName: "bytes/s"
    ),
    transform: ByteAmount.limit
  )
  var limitRate: Int64?

  @Option(
    help: ArgumentHelp(
      "Other total rate limits by local time, such as 08:00-18:00=2M,22:00-06:00=none; 0 is none, not a "
        + "pause.",
      valueName: "windows"
    ),
    transform: RateSchedule.init
  )
  var limitSchedule: RateSchedule?

  @Option(
    help: ArgumentHelp(
      "The speed below which a transfer lets a waiting download go first, such as 10K; 0 for never.",
      valueName: "bytes/s"
    ),
    transform: EngineLimits.speed
  )
  var lowestSpeed = ByteAmountSetting(byteCount: EngineOptions().lowestSpeed)

  @Option(
    help: ArgumentHelp(
      "The time over which the speed is measured for --lowest-speed, such as 30s or 2m.",
      valueName: "duration"
    ),
    transform: EngineLimits.time
  )
  var lowestSpeedTime = SpanArgument(EngineOptions().lowestSpeedTime)

  @Option(
    help: ArgumentHelp(
      "Fail a download after this many consecutive failures without progress, from 1; by default "
        + "\(RetryPolicy().maximumAttempts).",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0, from: 1) }
  )
  var maxAttempts: Int32?

  @Option(
    help: ArgumentHelp(
      "The longest wait after the first failure, such as 5s or 2m; it doubles with each further one.",
      valueName: "duration"
    )
  )
  var retryWait = SpanArgument(RetryPolicy().base)

  @Flag(
    inversion: .prefixedNo,
    exclusivity: .chooseLast,
    help: """
      Resume downloads for which the server sent no validator. A file that changed on the server \
      and kept its size is not noticed.
      """
  )
  var continueUnvalidated = false

  @Flag(
    name: [.customShort("R"), .customLong("remote-time")],
    inversion: .prefixedNo,
    exclusivity: .chooseLast,
    help: """
      Give finished files the time of the server (Last-Modified) instead of that of the download.
      """
  )
  var remoteTime = false

  @OptionGroup var client: ClientOptions

  func validate() throws {
    try retryWait.validate("--retry-wait")
  }

  /// Parses the name of a kind of preallocation.
  ///
  /// - Throws: `ValidationError`.
  private static func preallocation(_ text: String) throws(ValidationError) -> Preallocation {
    try word(text)
  }

  /// Parses what is done for equal files.
  ///
  /// - Throws: `ValidationError`.
  private static func equalFiles(_ text: String) throws(ValidationError) -> EqualFiles {
    try word(text)
  }

  /// Parses one of some words.
  ///
  /// - Throws: `ValidationError` with the nearest word.
  private static func word<Value: RawRepresentable<String> & CaseIterable>(
    _ text: String
  ) throws(ValidationError) -> Value {
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue)
      throw ValidationError(
        "'\(text)' is not one of: \(names.joined(separator: ", "))."
          + Suggestion.text(for: text, among: names)
      )
    }
    return value
  }

  /// Parses a speed in bytes per second, which may be zero.
  ///
  /// - Throws: `ValidationError`.
  private static func speed(_ text: String) throws(ValidationError) -> ByteAmountSetting {
    ByteAmountSetting(byteCount: text == "0" ? 0 : try ByteAmount.rate(text))
  }

  /// Parses a duration of at least a second; a number without a unit is one of seconds.
  ///
  /// - Throws: `ValidationError`.
  private static func time(_ text: String) throws(ValidationError) -> SpanArgument {
    guard let span = SpanArgument(argument: text), span.duration >= .seconds(1) else {
      throw ValidationError("'\(text)' is not a duration of at least 1s such as 30s or 2m.")
    }
    return span
  }

  /// The defaults, by name, of options with a `transform`, which ArgumentParser does not describe.
  static let transformedDefaults = [
    "max-concurrent": "\(ConcurrencyLimits().maximumRunning)",
    "per-host": "\(ConcurrencyLimits().maximumPerHost)",
    "connections": "\(SplitOptions().maximumConnections)",
    "max-attempts": "\(RetryPolicy().maximumAttempts)",
    "min-split": "\(ByteAmountSetting(byteCount: SplitOptions().minimumLength))",
    "preallocate": "\(EngineOptions().preallocation)",
    "equal-files": "\(EngineOptions().equalFiles)",
    "lowest-speed": "\(ByteAmountSetting(byteCount: EngineOptions().lowestSpeed))",
    "lowest-speed-time": "\(SpanArgument(EngineOptions().lowestSpeedTime))",
  ]

  /// The limits of the engine: a connection of a file takes a place of both, and all downloads may be
  /// from one host, so `--connections` and `--max-concurrent` raise those that are not given.
  var concurrency: ConcurrencyLimits {
    let usual = ConcurrencyLimits()
    return ConcurrencyLimits(
      maximumRunning: maxConcurrent ?? max(usual.maximumRunning, connectionsPerFile),
      maximumPerHost: perHost
        ?? max(usual.maximumPerHost, connectionsPerFile, maxConcurrent ?? 0)
    )
  }

  /// Says that fewer connections than `--connections` are used; `nil` if all are, or without the
  /// option.
  var connectionNotice: String? {
    let limits = concurrency
    let used = min(limits.maximumRunning, limits.maximumPerHost)
    guard let connections, used < connections else { return nil }
    let option = limits.maximumPerHost == used ? "--per-host" : "--max-concurrent"
    return "a file uses at most \(used) of the \(connections) --connections, because \(option) is "
      + "\(used)"
  }

  /// The names of the options that were given for single files, which the engine of another process
  /// does not have.
  var fileNames: [String] {
    [maximumFileSize.map { _ in "--max-file-size" }, remoteTime ? "--remote-time" : nil]
      .compactMap(\.self)
  }

  /// The total rate limit; `nil` for none.
  private var rateLimit: Int64? { limitRate == 0 ? nil : limitRate }

  /// The size of the largest file that is downloaded; `nil` for no limit.
  var maximumFileSize: Int64? { maxFileSize == 0 ? nil : maxFileSize }

  /// The options for an engine in this process.
  var engineOptions: EngineOptions {
    var options = EngineOptions()
    options.limits = concurrency
    options.split.maximumConnections = connectionsPerFile
    options.split.minimumLength = minSplit.byteCount
    options.preallocation = preallocate
    options.maximumFileSize = maximumFileSize
    options.equalFiles = equalFiles
    options.lowestSpeed = lowestSpeed.byteCount
    options.lowestSpeedTime = lowestSpeedTime.duration
    options.retry.maximumAttempts = maxAttempts ?? options.retry.maximumAttempts
    options.retry.base = retryWait.duration
    options.retry.cap = max(options.retry.cap, retryWait.duration)
    options.continuesUnvalidated = continueUnvalidated
    options.setsServerTime = remoteTime
    options.previousExit = Worker.current?.previousExit ?? .clean
    // A response that hangs the process is detected after ten seconds. Until then no other download
    // starts, so that only the suspect is blamed.
    options.probation = .seconds(20)
    return options
  }

  /// The number of attempts to reach a server that was never reached, in a command that a user waits
  /// for; `nil` if the user has set the number of attempts.
  var firstContactAttempts: Int32? {
    maxAttempts == nil ? 2 : nil
  }

  /// The longest wait that a server may ask for, in a command that a user waits for; `nil` for any, if
  /// the user has set the number of attempts.
  var longestAwaitedServerWait: Duration? {
    maxAttempts == nil ? .seconds(600) : nil
  }

  /// Creates the transport for an engine with these options.
  ///
  /// - Throws: ``CommandFailure`` if a certificate or a key cannot be read.
  func makeTransport() throws -> any RateLimitedTransport {
    try client.makeTransport(
      connectionsPerHost: max(16, concurrency.maximumPerHost),
      bytesPerSecond: rateLimit
    )
  }

  /// Changes the rate limit of the transport by the schedule; `nil` without a schedule.
  var rateFollower: RateFollower? {
    limitSchedule.map { RateFollower(schedule: $0, otherLimit: rateLimit) }
  }
}
