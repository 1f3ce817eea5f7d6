public import DownloadStore

/// Inspects each request before it is sent, and can change its URL and header fields.
///
/// Use an interceptor to sign requests or to add an access token:
///
/// ```swift
/// struct BearerToken: RequestInterceptor {
///   let token: String
///
///   func intercept(
///     _ request: TaskRequest,
///     for record: DownloadRecord
///   ) async throws -> TaskRequest {
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
