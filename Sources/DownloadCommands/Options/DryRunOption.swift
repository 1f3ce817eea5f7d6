internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// The option of `add` and `get` that asks the servers, and neither stores nor downloads anything.
struct DryRunOption: ParsableArguments {
  @Flag(
    name: [.customLong("dry-run"), .customLong("spider")],
    help: """
      Only ask the servers for size, name, validator and ranges, and print these; stores and downloads \
      nothing.
      """
  )
  var dryRun = false

  /// The number of servers that are asked before their answers are printed.
  private static let batchSize = 64

  /// Asks the servers of all downloads, and prints what they say.
  ///
  /// - Parameters:
  ///   - source: The downloads.
  ///   - transport: The transport.
  ///   - maximumFileSize: The size in bytes of the largest file that would be downloaded; `nil` for any.
  ///   - isQuiet: Whether only failures are printed.
  /// - Throws: ``CommandFailure`` if a server could not say, or an entry was skipped.
  static func report(
    of source: inout RequestSource,
    _ transport: any Transport,
    upTo maximumFileSize: Int64? = nil,
    isQuiet: Bool
  ) async throws {
    var tally = Tally()
    while case let requests = try source.nextBatch(), !requests.isEmpty {
      for start in stride(from: 0, to: requests.count, by: batchSize) {
        let batch = Array(requests[start..<min(start + batchSize, requests.count)])
        let results = try await transport.probes(of: batch, upTo: maximumFileSize)
        for (request, result) in zip(batch, results) {
          tally.note(result)
          switch result {
          case .success(let probe):
            if !isQuiet { try Output.current.write(ProbeText.text(of: probe, request)) }
          case .failure(let failure): Output.current.say(ProbeText.failure(failure, request))
          }
        }
      }
    }
    try source.requireAny(tally.count)
    if !isQuiet, tally.count > 1 { try Output.current.line(tally.text) }
    if let status = tally.status ?? (source.isComplete ? nil : .failed) {
      throw CommandFailure(status)
    }
  }

  /// The answers so far.
  private struct Tally {
    var count = 0
    private var failed = 0
    private var unreachable = 0
    private var unknown = 0
    private var byteCount: Int64 = 0

    mutating func note(_ result: Result<DownloadProbe, DownloadFailure>) {
      count += 1
      switch result {
      case .success(let probe):
        if probe.byteCount == nil { unknown += 1 }
        let (sum, isLost) = byteCount.addingReportingOverflow(probe.byteCount ?? 0)
        byteCount = isLost ? .max : sum
      case .failure(let failure):
        failed += 1
        if ExitStatus(failure.code) == .unreachable { unreachable += 1 }
      }
    }

    /// The exit status of `get` for these failures; `nil` without any.
    var status: ExitStatus? { failed == 0 ? nil : unreachable == count ? .unreachable : .failed }

    var text: String {
      "\(count) files: \(ByteAmount.text(byteCount))"
        + (unknown > 0 ? " and \(unknown) of unknown size" : "") + ", \(failed) failed"
    }
  }
}

/// What a server says about a file, as text for people.
private enum ProbeText {
  /// The URL, and a line for each property.
  static func text(of probe: DownloadProbe, _ request: DownloadRequest) -> String {
    let name = request.filename.map { SafeFilename.sanitized($0) } ?? probe.filename
    let validators = [
      probe.entityTag.map { "ETag \($0)" }, probe.lastModified.map { "dated \($0)" },
    ]
    .compactMap(\.self)
    let rows: [(String, String?)] = [
      ("name", request.folder.isEmpty ? name : "\(request.folder)/\(name)"),
      ("size", probe.byteCount.map { "\(ByteAmount.text($0)) (\($0) bytes)" } ?? "not stated"),
      ("validator", validators.isEmpty ? "none" : validators.joined(separator: ", ")),
      ("ranges", probe.acceptsRanges.map { $0 ? "yes" : "no" } ?? "not stated"),
      ("redirected to", probe.url == request.url ? nil : Redaction.url(probe.url)),
    ]
    let lines = rows.compactMap { name, value in
      value.map { "  \(TerminalText.padded(name, to: 13))  \(TerminalText.safe($0))\n" }
    }
    return "\(TerminalText.safe(Redaction.url(request.url)))\n" + lines.joined()
  }

  /// The sentence about a server that could not say.
  static func failure(_ failure: DownloadFailure, _ request: DownloadRequest) -> String {
    let url = Redaction.url(request.url)
    let reason = failure.message.replacing(request.url, with: url)
    return "failed \(url): \(reason)"
  }
}
