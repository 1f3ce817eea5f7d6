internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// The options of `add` and `get` that say when and how fast a download runs, and how often.
struct TransferOptions: ParsableArguments {
  @Option(
    name: .customLong("limit-rate-per-download"),
    help: ArgumentHelp(
      "The rate limit of each of these downloads, such as 500K or 2M, or none; stored.",
      valueName: "bytes/s"
    ),
    transform: ByteAmount.limit
  )
  var bytesPerSecond: Int64?

  @Option(
    name: .customLong("connections-per-download"),
    help: ArgumentHelp(
      "The maximum number of connections of each of these downloads; stored.",
      valueName: "n"
    ),
    transform: ConnectionCount.parse
  )
  var connections: Int32?

  @Option(
    help: ArgumentHelp(
      "Do not start before this time: ISO 8601, or HH:MM in local time; stored.",
      valueName: "time"
    ),
    transform: { try EarliestStart.date($0) }
  )
  var notBefore: Date?

  @Option(
    help: ArgumentHelp(
      "Ask for a newer version of the finished file when the last check is this long ago, such as 12h "
        + "or 7d; stored; at least 1m.",
      valueName: "duration"
    ),
    transform: RefreshPeriod.parse
  )
  var refreshEvery: Duration?

  @Option(
    help: VersionCount.help,
    transform: VersionCount.parse
  )
  var keepVersions: Int32?

  /// Applies the options that are given; they override those of an input file.
  func apply(to requests: inout [DownloadRequest]) {
    for index in requests.indices {
      if let bytesPerSecond {
        requests[index].bytesPerSecond = bytesPerSecond == 0 ? nil : bytesPerSecond
        requests[index].removesRateLimit = bytesPerSecond == 0
      }
      if let connections { requests[index].connections = connections }
      if let notBefore { requests[index].notBefore = notBefore }
      if let keepVersions { requests[index].keepVersions = keepVersions }
      if let refreshEvery { requests[index].refreshEvery = refreshEvery }
    }
  }
}

/// The number of connections of a download.
enum ConnectionCount {
  /// Parses a number above zero.
  ///
  /// - Throws: `ValidationError`.
  static func parse(_ text: String) throws(ValidationError) -> Int32 {
    guard let count = Int32(text), count > 0 else {
      throw ValidationError("'\(text)' is not a number of connections from 1 to \(Int32.max).")
    }
    return count
  }
}

/// The time between two refreshes of a download.
enum RefreshPeriod {
  /// Parses a time from a minute to a year.
  ///
  /// - Throws: `ValidationError`.
  static func parse(_ text: String) throws(ValidationError) -> Duration {
    guard let span = SpanArgument(argument: text),
      RecordLimits.refreshPeriod.contains(span.duration.components.seconds)
    else {
      throw ValidationError("'\(text)' is not a duration from 1m to 365d such as 12h or 7d.")
    }
    return span.duration
  }
}

/// The number of previous versions that are kept.
enum VersionCount {
  /// The help of the option in the commands that store it.
  static let help = ArgumentHelp(
    "Keep this many previous versions of the finished file beside it, as NAME.~1~, NAME.~2~, from 1 to "
      + "100; stored.",
    valueName: "n"
  )

  /// Parses a number from 1 to 100.
  ///
  /// - Throws: `ValidationError`.
  static func parse(_ text: String) throws(ValidationError) -> Int32 {
    guard let count = Int32(text), RecordLimits.versionCount.contains(count) else {
      throw ValidationError("'\(text)' is not a number of versions from 1 to 100.")
    }
    return count
  }
}

extension ByteAmount {
  /// Parses a rate limit.
  ///
  /// - Throws: `ValidationError`.
  static func rate(_ text: String) throws(ValidationError) -> Int64 {
    guard let rate = parse(text) else {
      throw ValidationError("'\(text)' is not a number of bytes such as 500K, 1.5M or 2MiB.")
    }
    return rate
  }

  /// Parses a rate limit, which is 0 for `0` and `none`: no limit.
  ///
  /// - Throws: `ValidationError`.
  static func limit(_ text: String) throws(ValidationError) -> Int64 {
    text == "0" || text.lowercased() == "none" ? 0 : try rate(text)
  }
}
