internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import Foundation

/// Fetches a short document into memory, such as a list of downloads.
enum DocumentFetch {
  /// Returns the body of the response with status 200.
  ///
  /// The header fields belong to the origin of the URL.
  ///
  /// - Throws: ``CommandFailure``: `unreachable` if no server could be reached, `damaged` if the
  ///   document is longer than `limit` bytes, otherwise `failed`.
  static func read(
    _ url: String,
    headers: [HeaderField] = [],
    upTo limit: Int,
    _ client: ClientOptions
  ) async throws -> Data {
    let shown = Redaction.url(url)
    do {
      try RecordIdentity.validate(url)
    } catch {
      throw CommandFailure(.usage, "'\(Redaction.argument(url))' is not an http or https URL")
    }
    try client.requireProxyOfEnvironment("a document")
    let transport = try client.makeTransport(connectionsPerHost: 1)
    let received: (document: Document, isTooLong: Bool)
    do {
      received = try await transport.document(
        TaskRequest(url: url, recordID: "", headers: headers),
        limit: limit
      ) { $0.status == 200 }
    } catch let failure as DownloadFailure {
      throw CommandFailure(
        ExitStatus(failure.code),
        "cannot fetch \(shown): \(failure.message)"
      )
    }
    guard !received.isTooLong else {
      throw CommandFailure(.damaged, "\(shown) is longer than \(limit / 1_000_000) MB")
    }
    let status = received.document.head.status
    guard status == 200 else {
      throw CommandFailure(.failed, "cannot fetch \(shown): \(StatusText.sentence(for: status))")
    }
    return received.document.body
  }
}
