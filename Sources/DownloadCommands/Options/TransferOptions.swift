internal import ArgumentParser
internal import DownloadStore
internal import Foundation

/// The options of `add` and `get` that say when and how fast a download runs.
struct TransferOptions: ParsableArguments {
  @Option(
    name: .customLong("limit-rate-per-download"),
    help: ArgumentHelp(
      "The rate limit of each of these downloads, such as 500K or 2M; stored.",
      valueName: "bytes/s"
    ),
    transform: ByteAmount.rate
  )
  var bytesPerSecond: Int64?

  @Option(
    help: ArgumentHelp(
      "Do not start before this time: ISO 8601, or HH:MM in local time; stored.",
      valueName: "time"
    ),
    transform: { try EarliestStart.date($0) }
  )
  var notBefore: Date?

  /// Applies the options that are given; they override those of an input file.
  func apply(to requests: inout [DownloadRequest]) {
    for index in requests.indices {
      if let bytesPerSecond { requests[index].bytesPerSecond = bytesPerSecond }
      if let notBefore { requests[index].notBefore = notBefore }
    }
  }
}

extension ByteAmount {
  /// Parses a rate limit.
  ///
  /// - Throws: `ValidationError`.
  static func rate(_ text: String) throws(ValidationError) -> Int64 {
    guard let rate = parse(text) else {
      throw ValidationError("'\(text)' is not a positive byte count such as 500K or 2M.")
    }
    return rate
  }
}
