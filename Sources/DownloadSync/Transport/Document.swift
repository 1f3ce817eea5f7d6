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
  package init(head: ResponseHead, body: Data = Data()) {
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
  ///   - method: `.get`, or `.head` for the head alone.
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
    let (document, isTooLong) = try await self.document(request, limit: limit) { _ in true }
    guard !isTooLong else {
      throw DownloadFailure(.badResponse, "the document has more than \(limit) bytes")
    }
    return document
  }

  /// Requests a document whose body is wanted only with some heads.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - limit: The maximum length of the body in bytes.
  ///   - keepsBody: Whether the body is received; otherwise the document has only its head.
  /// - Returns: The document, and whether the rest of a longer body was not received.
  /// - Throws: `DownloadFailure` as a task of the transport reports it; `CancellationError`.
  package func document(
    _ request: TaskRequest,
    limit: Int,
    keepsBody: @escaping @Sendable (ResponseHead) -> Bool
  ) async throws -> (document: Document, isTooLong: Bool) {
    let sink = DocumentSink(limit: limit, keepsBody: keepsBody)
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
  typealias Received = (document: Document, isTooLong: Bool)

  private struct State {
    var head: ResponseHead?
    var body: [UInt8] = []
    var isTooLong = false
    /// Whether this sink has ended the task.
    var isCut = false
    var result: Result<Received, any Error>?
    var waiting: CheckedContinuation<Received, any Error>?
  }

  private let limit: Int
  private let keepsBody: @Sendable (ResponseHead) -> Bool
  // Only held to access the fields: the transport calls one method at a time, and the caller waits.
  private let state = Mutex(State())

  init(limit: Int, keepsBody: @escaping @Sendable (ResponseHead) -> Bool) {
    (self.limit, self.keepsBody) = (limit, keepsBody)
  }

  /// Waits for the end of the task.
  func document() async throws -> Received {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.waiting = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  func receive(_ head: ResponseHead) -> BodyDisposition {
    let isWanted = keepsBody(head)
    state.withLock { state in
      state.head = head
      state.isCut = !isWanted
    }
    return isWanted ? .proceed : .cancel
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
    state.withLock { state in
      guard bytes.count <= limit - state.body.count else {
        (state.isTooLong, state.isCut) = (true, true)
        return .cancel
      }
      state.body.append(copying: bytes)
      return .proceed
    }
  }

  func finish(_ outcome: TaskOutcome) {
    let (waiting, result) = state.withLock { state in
      let result = Self.result(of: outcome, state)
      state.result = result
      return (state.waiting.take(), result)
    }
    waiting?.resume(with: result)
  }

  private static func result(
    of outcome: TaskOutcome,
    _ state: State
  ) -> Result<Received, any Error> {
    if let head = state.head, outcome == .completed || state.isCut {
      return .success((Document(head: head, body: Data(state.body)), state.isTooLong))
    }
    return switch outcome {
    case .completed: .failure(DownloadFailure(.badResponse, "the server sent no response"))
    case .cancelled: .failure(CancellationError())
    case .failed(let failure): .failure(failure)
    }
  }
}
