internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import SystemInterface

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
    #if os(Linux)
      guard client.transport != .urlSession || client.connection.proxy == nil else {
        throw CommandFailure(
          .usage,
          "URLSession takes the proxy of a document from the environment: set http_proxy and "
            + "https_proxy, or add --transport async-http-client"
        )
      }
    #endif
    let transport = try client.makeTransport(connectionsPerHost: 1)
    let sink = DocumentSink(limit: limit)
    _ = transport.start(TaskRequest(url: url, recordID: "", headers: headers), sink: sink)
    let document = await sink.document()
    withExtendedLifetime(transport) {}
    guard !document.isTooLong else {
      throw CommandFailure(.damaged, "\(shown) is longer than \(limit / 1_000_000) MB")
    }
    switch document.outcome {
    case .completed where document.status == 200:
      return Data(document.body)
    case .failed(let failure):
      throw CommandFailure(
        ExitStatus(failure.code),
        "cannot fetch \(shown): \(failure.message)"
      )
    case .completed, .cancelled:
      let status = document.status.map { StatusText.sentence(for: $0) }
      throw CommandFailure(.failed, "cannot fetch \(shown): \(status ?? "no answer")")
    }
  }
}

/// Collects one response in memory.
private final class DocumentSink: TaskSink {
  struct Document {
    var status: Int?
    var body: [UInt8] = []
    var isTooLong = false
    var outcome = TaskOutcome.cancelled
  }

  private let limit: Int
  private let state = Mutex(Document())
  private let ends: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  init(limit: Int) {
    self.limit = limit
    (ends, end) = AsyncStream.makeStream()
  }

  /// Waits for the end of the task.
  func document() async -> Document {
    for await _ in ends {}
    return state.withLock { $0 }
  }

  func receive(_ head: ResponseHead) -> BodyDisposition {
    state.withLock { document in
      document.status = head.status
      return head.status == 200 ? .proceed : .cancel
    }
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    state.withLock { document in
      guard bytes.count <= limit - document.body.count else {
        document.isTooLong = true
        return .cancel
      }
      document.body.append(copying: bytes)
      return .proceed
    }
  }

  func finish(_ outcome: TaskOutcome) {
    state.withLock { $0.outcome = outcome }
    end.finish()
  }
}
