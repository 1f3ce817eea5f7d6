public import DownloadStore
public import Foundation

/// The request of a task: a GET of an entity or, if the entity is unchanged, of its bytes from an
/// offset on.
public struct TaskRequest: Sendable, Hashable {
  /// The absolute `http` or `https` URL, exactly as stored in the record.
  public var url: String
  /// The id of the record, which connects a live task with its record
  /// (`URLSessionTask.taskDescription`).
  public var recordID: String
  /// The first requested byte.
  ///
  /// Above zero, the transport sends `Range: bytes=offset-` (RFC 9110, 14.2).
  public var offset: Int64
  /// The value of `If-Range` (RFC 9110, 13.1.5): a strong entity tag or a date.
  ///
  /// Sent only with a range.
  public var validator: String?
  /// Additional header fields, in order.
  ///
  /// `Range`, `If-Range` and `Accept-Encoding` are set by the transport; these fields are ignored
  /// here.
  public var headers: [HeaderField]
  /// The resume data of an earlier task; only for a ``BackgroundTransport``.
  ///
  /// A property list of Apple's in any of its formats (see `URLSessionResumeData`). It always
  /// describes the whole entity, so `offset` must be zero.
  public var resumeData: Data?
  /// Whether the task may use a cellular network.
  ///
  /// `URLSessionTransport` and `BackgroundURLSessionTransport` honour it on Apple platforms, for
  /// the request and its redirects. A task with resume data keeps the setting of the task that
  /// produced the data. It has no effect on Linux, where neither URLSession nor AsyncHTTPClient
  /// recognises a cellular network.
  public var allowsCellular: Bool
  /// Whether the task should continue while the application is not running.
  ///
  /// ``RoutingTransport`` uses it to choose between its background and its foreground transport.
  /// The other transports ignore it: every task of `BackgroundURLSessionTransport` continues, and
  /// no task of `URLSessionTransport` or `AsyncHTTPClientTransport` does.
  public var prefersBackground: Bool

  /// Creates a request for the whole entity, or for its bytes from `offset` on.
  public init(
    url: String,
    recordID: String,
    offset: Int64 = 0,
    validator: String? = nil,
    headers: [HeaderField] = [],
    resumeData: Data? = nil,
    allowsCellular: Bool = true,
    prefersBackground: Bool = false
  ) {
    self.url = url
    self.recordID = recordID
    self.offset = offset
    self.validator = validator
    self.headers = headers
    self.resumeData = resumeData
    self.allowsCellular = allowsCellular
    self.prefersBackground = prefersBackground
  }
}

/// Identifies a live task within a transport, which never reuses an id.
public struct TaskID: Sendable, Hashable, RawRepresentable {
  /// The transport's number of the task.
  public var rawValue: UInt64

  /// Creates the id of the task with that number.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
