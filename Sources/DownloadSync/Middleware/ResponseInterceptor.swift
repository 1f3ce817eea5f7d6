public import DownloadStore

/// What a download came to.
public struct DownloadResponse: Sendable, Hashable {
  /// The record as it was committed at that end.
  public var record: DownloadRecord
  /// The head of the last response, after redirects; `nil` when there was none.
  public var head: ResponseHead?
  /// Where the finished file is; `nil` when the download failed.
  public var filePath: String?
  /// Why it failed; `nil` when it is complete.
  public var failure: DownloadFailure?
  /// Whether another attempt follows.
  public var isRetried: Bool

  /// Describes an end.
  public init(
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

  /// The URL of the record, as it was given.
  public var originalURL: String { record.url }
}

/// Is told of each download that is complete, and of each attempt that failed.
///
/// Interceptors are told in ascending priority, one after the other, once the end is committed and
/// before the event of it; of different ends at the same time. The file has its name by then and is the store's own: a path is given of
/// no other file. When the process is killed in between, they are not told again.
///
/// One that throws, or has not returned within ``EngineOptions/interceptorDeadline``, changes nothing
/// about the download: that is an event, and the next one is told.
public protocol ResponseInterceptor: Sendable {
  /// Lower goes first; those that are equal go in the order of registration.
  var priority: Int { get }

  /// Takes note of the end of a download or an attempt.
  ///
  /// - Throws: What is told as an event.
  func intercept(_ response: DownloadResponse) async throws
}

extension ResponseInterceptor {
  /// Zero.
  public var priority: Int { 0 }
}

/// Which interceptor failed, and why.
public struct InterceptorFailure: Error, Sendable, Hashable {
  /// The interceptor's type.
  public var interceptor: String
  /// What it threw, for people.
  public var message: String

  /// Creates a failure.
  ///
  /// Secrets of URLs in the message are hidden.
  public init(interceptor: String, message: String) {
    self.interceptor = interceptor
    self.message = Redaction.text(message)
  }
}
