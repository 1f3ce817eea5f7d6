public import DownloadStore

/// The end of a download or of a failed attempt, as response interceptors receive it.
public struct DownloadResponse: Sendable, Hashable {
  /// The record, as committed at that end; its URL is the one before redirects and changes by request
  /// interceptors.
  public var record: DownloadRecord
  /// The head of the last response, after redirects; `nil` if there was none.
  public var head: ResponseHead?
  /// The path of the finished file; `nil` if the download failed or its root folder no longer
  /// exists.
  public var filePath: String?
  /// The failure; `nil` if the download is complete.
  public var failure: DownloadFailure?
  /// Whether the download is retried.
  public var isRetried: Bool

  /// Creates a response.
  package init(
    record: DownloadRecord,
    head: ResponseHead? = nil,
    filePath: String? = nil,
    failure: DownloadFailure? = nil,
    isRetried: Bool = false
  ) {
    self.record = record
    self.head = head
    self.filePath = filePath
    self.failure = failure
    self.isRetried = isRetried
  }
}

/// Is notified of each completed download and each failed attempt.
///
/// The engine commits the end of a download first. It then notifies the interceptors one after the
/// other, in ascending priority, and emits the event after the last one has returned. The event of
/// a retried attempt does not wait for the interceptors. Interceptors are notified of several
/// downloads concurrently.
///
/// A finished file has its final name by then. ``DownloadResponse/filePath`` is only ever the path
/// of a file that belongs to the store.
///
/// If the process is killed between the commit and the notification, the notification is not
/// repeated. Work that every file needs belongs in a loop over the completed records of the store.
///
/// An interceptor that throws, or does not return within ``EngineOptions/interceptorDeadline``,
/// does not affect the download. The engine emits ``DownloadEvent/interceptorFailed(url:_:)`` and
/// notifies the next interceptor.
///
/// ```swift
/// struct FailureLog: ResponseInterceptor {
///   func intercept(_ response: DownloadResponse) async throws {
///     guard let failure = response.failure, !response.isRetried else { return }
///     print(response.record.url, response.head?.status ?? 0, failure.message)
///   }
/// }
///
/// options.responseInterceptors = [FailureLog()]
/// ```
public protocol ResponseInterceptor: Sendable {
  /// The position in the order of interceptors: lower values are notified first.
  ///
  /// Interceptors with equal values are notified in the order of
  /// ``EngineOptions/responseInterceptors``.
  var priority: Int { get }

  /// Handles the end of a download or of a failed attempt.
  ///
  /// - Throws: Any error; the engine emits it as an event.
  func intercept(_ response: DownloadResponse) async throws
}

extension ResponseInterceptor {
  /// The default priority, 0.
  public var priority: Int { 0 }
}

/// The failure of a response interceptor.
///
/// ```swift
/// for await event in engine.events() {
///   guard case .interceptorFailed(let url, let failure) = event else { continue }
///   print(url, failure.interceptor, failure.message)
/// }
/// ```
public struct InterceptorFailure: Error, Sendable, Hashable {
  /// The name of the interceptor's type.
  public var interceptor: String
  /// A description of the error, for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Hides the secrets of URLs in the message.
  package init(interceptor: String, message: String) {
    self.interceptor = interceptor
    self.message = Redaction.text(message)
  }
}

/// Inspects each request before it is sent, and can change its URL and header fields.
///
/// Use an interceptor to sign requests or to add an access token. It receives the requests to every
/// origin, also those of mirrors:
///
/// ```swift
/// struct BearerToken: RequestInterceptor {
///   let token: String
///
///   func intercept(
///     _ request: TaskRequest,
///     for record: DownloadRecord
///   ) async throws -> TaskRequest {
///     guard request.url.hasPrefix("https://example.com/") else { return request }
///     var request = request
///     request.headers.append(HeaderField(name: "Authorization", value: "Bearer \(token)"))
///     return request
///   }
/// }
/// ```
///
/// Interceptors run in ascending priority for each attempt. Each receives the request that the
/// previous one returned. Their changes are sent but never stored: the record keeps its URL and its
/// header fields. Of the returned request, only the URL and the header fields are used. The engine
/// sets the other properties, such as the range, its validator and the record ID.
///
/// Fields that an interceptor adds or changes are sent to the URL that it returns. If that URL has
/// another origin than the previous one, unchanged fields that identify the user are removed: those
/// that `Redaction` hides.
///
/// If an interceptor throws, the attempt fails. The code of a `DownloadFailure` decides whether the
/// attempt is retried. Any other error fails the download permanently with `interceptorFailed`. If
/// an interceptor does not return within ``EngineOptions/interceptorDeadline``, it is cancelled and
/// the attempt fails with `timedOut`. Other downloads are not delayed.
public protocol RequestInterceptor: Sendable {
  /// The position in the order of interceptors: lower values run first.
  ///
  /// Interceptors with equal values run in the order of ``EngineOptions/requestInterceptors``.
  var priority: Int { get }

  /// Returns the request to send.
  ///
  /// - Parameters:
  ///   - request: The request that would be sent without this interceptor.
  ///   - record: The record of the download, as committed at the start of the attempt.
  /// - Returns: The request to send or to pass to the next interceptor.
  /// - Throws: An error that ends the attempt; see ``RequestInterceptor``.
  func intercept(
    _ request: TaskRequest,
    for record: DownloadRecord
  ) async throws -> TaskRequest
}

extension RequestInterceptor {
  /// The default priority, 0.
  public var priority: Int { 0 }
}
