public import DownloadStore

/// Looks at each request before it is sent, and may change it: signs it, say, or adds a token.
///
/// Interceptors are asked in ascending priority, and each gets what the one before it has made. What
/// they add is sent and never stored. The URL of the request may be another one; the record's stays,
/// and so do the range, its validator and the join to the record: those are the engine's.
///
/// What an interceptor adds or changes is sent to the URL that it returns. If that has another origin
/// than the URL before, fields that were there already and that `Redaction` hides are removed.
///
/// An interceptor that throws ends the attempt. A `DownloadFailure` says by its code whether
/// another one follows; any other error fails the download for good with `interceptorFailed`. One
/// that has not answered within ``EngineOptions/interceptorDeadline`` fails with `timedOut`.
public protocol RequestInterceptor: Sendable {
  /// Lower goes first; those that are equal go in the order of registration.
  var priority: Int { get }

  /// The request to send in place of this one.
  ///
  /// - Parameters:
  ///   - request: The request as it would be sent.
  ///   - record: The record that it is for, as of the start.
  /// - Returns: The request that is sent, or handed to the next interceptor.
  /// - Throws: What ends the attempt.
  func intercept(
    _ request: TaskRequest,
    for record: DownloadRecord
  ) async throws -> TaskRequest
}

extension RequestInterceptor {
  /// Zero.
  public var priority: Int { 0 }
}
