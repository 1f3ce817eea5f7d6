public import DownloadStore
public import Foundation

/// What a transport needs to start a task: a GET, from an offset, if the entity is still the same.
public struct TaskRequest: Sendable, Hashable {
  /// The absolute `http` or `https` URL, exactly as the record has it.
  public var url: String
  /// The record's id; the join between a live task and its record
  /// (`URLSessionTask.taskDescription`).
  public var recordID: String
  /// The first byte wanted.
  ///
  /// Above zero a `Range: bytes=offset-` header is sent (RFC 9110, 14.2).
  public var offset: Int64
  /// The value of `If-Range` (RFC 9110, 13.1.5): a strong entity tag or a date.
  ///
  /// Sent only with a range.
  public var validator: String?
  /// Further header fields in the order given.
  ///
  /// `Range`, `If-Range` and `Accept-Encoding` are the transport's own and are ignored here.
  public var headers: [HeaderField]
  /// What an earlier task has left, to go on from; only for a ``BackgroundTransport``.
  ///
  /// Apple's property list, of any form (see `ResumeData`), and always of the whole entity: `offset`
  /// is zero then.
  public var resumeData: Data?
  /// Whether the task may use a cellular network.
  ///
  /// `URLSessionTransport` and `BackgroundURLSessionTransport` honour it on Apple systems, for the
  /// request and its redirects; a task that goes on from resume data has what the first one had.
  /// Neither URLSession nor AsyncHTTPClient can tell a cellular network on Linux: there it has no
  /// effect.
  public var allowsCellular: Bool
  /// Whether the task should go on while the application does not run.
  ///
  /// ``RoutingTransport`` chooses by it between a background session and another transport. By
  /// themselves, every task of `BackgroundURLSessionTransport` goes on, and no task of
  /// `URLSessionTransport` or `AsyncHTTPClientTransport` does.
  public var prefersBackground: Bool

  /// Creates a request for the whole entity, or for the part of it that starts at `offset`.
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

/// Names one live task within a transport; never used twice by one transport.
public struct TaskID: Sendable, Hashable, RawRepresentable {
  /// The transport's number for the task.
  public var rawValue: UInt64

  /// Names the task that the transport numbered `rawValue`.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}
