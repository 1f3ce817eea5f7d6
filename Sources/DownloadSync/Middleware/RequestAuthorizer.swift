/// Supplies the credentials of requests, for as long as a download lasts.
///
/// The engine asks the authorizer before each request: the first one of an attempt, each additional
/// connection, and each repetition. If the server refuses the request with 401 or 403, the engine asks
/// again with the head of that response, which has the challenge, and sends the request that it gets.
/// That is no failed attempt, and there is no wait. A request that was authorized is refused for good
/// after three such answers, or when the authorizer throws.
///
/// It is asked for the requests to every origin, also to mirrors, and to any host that a manifest
/// names. Add credentials only to requests to the server that they are for. A redirect to another
/// origin does not repeat them.
///
/// The calls for one origin (scheme, host and port) are made one at a time. Requests that are refused
/// together cause one call with a refusal: the others are asked for with `nil` after it has returned.
/// So an actor that keeps one token, and fetches one only if it has none or after a refusal, fetches
/// no token twice:
///
/// ```swift
/// actor RegistryToken: RequestAuthorizer {
///   var token: String?
///
///   func authorize(
///     _ request: TaskRequest,
///     after refusal: ResponseHead?
///   ) async throws -> TaskRequest {
///     guard request.url.hasPrefix("https://registry.example.com/") else { return request }
///     if let challenge = refusal?["WWW-Authenticate"] { token = try await fetchToken(challenge) }
///     var request = request
///     if let token {
///       request.headers.append(HeaderField(name: "Authorization", value: "Bearer \(token)"))
///     }
///     return request
///   }
/// }
///
/// options.authorizer = RegistryToken()
/// ```
///
/// An authorizer may also return another URL, such as a signed one. As for a ``RequestInterceptor``,
/// only the URL and the header fields of the returned request are used, nothing is stored, and fields
/// that identify the user are not sent to another origin unless the authorizer adds them.
///
/// The tasks of a ``BackgroundTransport`` run while no process can answer, so they are not authorized;
/// use interceptors. Those of a ``RoutingTransport`` are not authorized either, also in the foreground.
public protocol RequestAuthorizer: Sendable {
  /// Returns the request to send.
  ///
  /// - Parameters:
  ///   - request: The request after the interceptors, without what an earlier call has added.
  ///   - refusal: The head of the response that refused the request, after redirects; `nil` for the
  ///     first time, and if another request to the origin was authorized since this one was sent.
  /// - Returns: The request with credentials.
  /// - Throws: A `DownloadFailure`, whose code decides whether the attempt is retried, for example
  ///   `serverBusy` if no token can be fetched now, or `refused`, which is not retried, for a wrong
  ///   login. With any other error the download fails permanently, after a refusal with that
  ///   refusal. A call that exceeds ``EngineOptions/interceptorDeadline`` is cancelled, and the
  ///   attempt fails with `timedOut`.
  func authorize(
    _ request: TaskRequest,
    after refusal: ResponseHead?
  ) async throws -> TaskRequest
}
