internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore limit`: shows and changes the rate limit of the store.
struct LimitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limit",
    abstract: "Shows or changes the rate limit of all transfers, also while an engine runs.",
    discussion: """
      The limit is stored. A running engine, such as a service, follows it at once, and each later \
      one when it starts. If 'run' or 'get' has a limit of its own (--limit-rate, --limit-schedule \
      or the setting limit-rate), the lower one counts, so 'none' removes only the limit of the \
      store.

      EXAMPLES:
        dlstore limit
        dlstore limit 2M
        dlstore limit none
      """
  )

  /// A rate limit on the command line.
  struct Rate: ExpressibleByArgument, Sendable, Hashable {
    /// The limit in bytes per second; `nil` for none.
    let bytesPerSecond: Int64?

    init?(argument: String) {
      if argument == "none" || argument == "0" {
        bytesPerSecond = nil
      } else if let rate = try? ByteAmount.rate(argument) {
        bytesPerSecond = rate
      } else {
        return nil
      }
    }
  }

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Argument(
    help: ArgumentHelp(
      "The new limit in bytes per second, such as 500K or 2M, or none; without it, the limit is shown.",
      valueName: "bytes/s|none"
    )
  )
  var rate: Rate?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard rate == nil || !reading.immutable else {
      throw ValidationError("A new limit is written to the store: it excludes --immutable.")
    }
  }

  func run() async throws {
    guard let rate else {
      let limit = try location.openedForReading(reading).rateLimit()
      return try Output.current.line(json ? Self.json(limit).text : Self.text(limit))
    }
    let store = try RecordStore(at: location.resolved(), access: .readWrite)
    let previous = try store.rateLimit()
    try store.setRateLimit(rate.bytesPerSecond)
    guard !json else {
      return try Output.current.report(Self.json(rate.bytesPerSecond).text + "\n")
    }
    let engine = EngineLock.holder(storePath: store.path)
    try Output.current.report(
      "the limit is \(Self.text(rate.bytesPerSecond)) (before: \(Self.text(previous))); "
        + (engine.map { "the running engine (\($0)) follows it, unless its --limit-rate is lower" }
          ?? "it applies to the next 'run' or 'get'") + "\n"
    )
  }

  /// The limit as it can be given to the command.
  private static func text(_ limit: Int64?) -> String {
    limit.map { "\(ByteAmountSetting(byteCount: $0))" } ?? "none"
  }

  private static func json(_ limit: Int64?) -> JSONValue {
    ["bytesPerSecond": limit.map { .integer($0) } ?? .null]
  }
}
