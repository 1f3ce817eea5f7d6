public import DownloadStore
public import Foundation
internal import SystemInterface

/// A small response that was received into memory, such as a manifest, a token or a list of files.
public struct Document: Sendable, Hashable {
  /// The status and the header fields of the response.
  public var head: ResponseHead
  /// The body; empty for `HEAD`.
  public var body: Data

  /// Creates a document.
  public init(head: ResponseHead, body: Data = Data()) {
    self.head = head
    self.body = body
  }
}

extension Transport {
  /// Requests a document, and receives it into memory.
  ///
  /// The request has the rules of a download: the transport's proxies, certificates and limits; the
  /// credentials of the URL; at most 20 redirects, which keep credentials from other origins. It is not
  /// stored, has no retries, and no interceptor or authorizer of an engine sees it.
  ///
  /// ```swift
  /// let url = "https://registry.example.com/v2/tool/manifests/latest"
  /// let accept = HeaderField(name: "Accept", value: "application/vnd.oci.image.manifest.v1+json")
  /// let document = try await transport.document(url, headers: [accept])
  /// if document.head.status == 401 { print(document.head["WWW-Authenticate"] ?? "") }
  /// ```
  ///
  /// Not for a ``BackgroundTransport``, which stores bodies as files.
  ///
  /// - Parameters:
  ///   - url: An absolute `http` or `https` URL.
  ///   - method: `GET`, or `HEAD` for the head alone.
  ///   - headers: Additional header fields, as in ``TaskRequest/headers``.
  ///   - followsRedirects: Whether a redirect is followed. Otherwise its response is returned, with
  ///     `Location` and whatever other fields the server states before the redirect.
  ///   - limit: The maximum length of the body in bytes, above zero.
  /// - Returns: The final response, whatever its status is.
  /// - Throws: `DownloadFailure` as a task of the transport reports it, or with `badResponse` if the
  ///   body is longer than the limit; `CancellationError`.
  public func document(
    _ url: String,
    method: TaskRequest.Method = .get,
    headers: [HeaderField] = [],
    followsRedirects: Bool = true,
    limit: Int = 4 << 20
  ) async throws -> Document {
    precondition(limit > 0, "a document needs a limit above zero")
    var request = TaskRequest(url: url, recordID: TaskRequest.noRecord, headers: headers)
    request.method = method
    request.followsRedirects = followsRedirects
    let sink = DocumentSink(limit: limit)
    let task = start(request, sink: sink)
    return try await withTaskCancellationHandler {
      try await sink.document()
    } onCancel: {
      cancel(task)
    }
  }
}

/// Collects the response of a task.
private final class DocumentSink: TaskSink {
  private struct State {
    var head: ResponseHead?
    var body: [UInt8] = []
    var result: Result<Document, any Error>?
    var waiting: CheckedContinuation<Document, any Error>?
  }

  private let limit: Int
  // Only held to access the fields: the transport calls one method at a time, and the caller waits.
  private let state = Mutex(State())

  init(limit: Int) {
    self.limit = limit
  }

  /// Waits for the end of the task.
  func document() async throws -> Document {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.waiting = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  func receive(_ head: ResponseHead) -> BodyDisposition {
    state.withLock { $0.head = head }
    return .proceed
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    let isTooLong = state.withLock { state in
      guard bytes.count <= limit - state.body.count else {
        end(&state, .failure(tooLong))
        return true
      }
      state.body.append(copying: bytes)
      return false
    }
    return isTooLong ? .cancel : .proceed
  }

  private var tooLong: DownloadFailure {
    DownloadFailure(.badResponse, "the document has more than \(limit) bytes")
  }

  func finish(_ outcome: TaskOutcome) {
    let (waiting, result) = state.withLock { state in
      switch (outcome, state.head) {
      case (.completed, let head?):
        end(&state, .success(Document(head: head, body: Data(state.body))))
      case (.completed, nil):
        end(&state, .failure(DownloadFailure(.badResponse, "the server sent no response")))
      case (.cancelled, _): end(&state, .failure(CancellationError()))
      case (.failed(let failure), _): end(&state, .failure(failure))
      }
      return (state.waiting.take(), state.result)
    }
    if let waiting, let result { waiting.resume(with: result) }
  }

  /// Notes the result; the first one counts.
  private func end(_ state: inout State, _ result: Result<Document, any Error>) {
    if state.result == nil { state.result = result }
  }
}
