public import DownloadStore
public import Foundation

/// Starts and cancels the tasks that transfer bytes, and lists the live ones.
///
/// A transport knows nothing of records. One transport serves all downloads of an engine. No method
/// waits for the network, and all may be called from any thread.
///
/// A transport may wrap another one:
///
/// ```swift
/// struct LoggingTransport: Transport {
///   let base: URLSessionTransport
///
///   func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
///     print("GET", request.url, "from", request.offset)
///     return base.start(request, sink: sink)
///   }
///   func cancel(_ task: TaskID) { base.cancel(task) }
///   func liveTasks() async -> [TaskSnapshot] { await base.liveTasks() }
/// }
/// ```
public protocol Transport: Sendable {
  /// Starts a task and returns immediately.
  ///
  /// The sink receives all events of the task, on a queue that the transport chooses. A task that
  /// cannot start, for example because its URL is not supported, also ends through the sink.
  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID

  /// Cancels a task.
  ///
  /// Its sink receives ``TaskSink/finish(_:)`` exactly once, with ``TaskOutcome/cancelled`` unless
  /// the task had already ended.
  func cancel(_ task: TaskID)

  /// The tasks whose sinks have not received the outcome yet.
  func liveTasks() async -> [TaskSnapshot]

  /// The rate of a single connection, in bytes per second, from which on a file is not split; `nil` to
  /// split files at any rate.
  ///
  /// For transports on which several connections at a high rate cost more than they gain.
  var splitRateLimit: Int64? { get }

  /// The rate limit of all tasks together in bytes per second; `nil` if there is none.
  ///
  /// The engine does not take transfers for slow that the limit slows down.
  var bytesPerSecond: Int64? { get }

  /// Applies the rate limit of the store (`RecordStore.rateLimit()`), in addition to
  /// ``bytesPerSecond``: the lower one counts.
  ///
  /// The engine calls this before it starts tasks, and after each change. It takes effect at once,
  /// also for running tasks.
  ///
  /// - Parameter limit: The limit of all tasks together in bytes per second, above zero; `nil` for
  ///   none.
  func follow(rateLimit limit: Int64?)
}

extension Transport {
  /// Splits files at any rate.
  public var splitRateLimit: Int64? { nil }

  /// No limit.
  public var bytesPerSecond: Int64? { nil }

  /// Does nothing: the transport has no rate limit.
  public func follow(rateLimit limit: Int64?) {}
}

/// Receives the events of one task.
///
/// The transport makes one call at a time: any number of ``receive(_:)-(ResponseHead)`` and
/// ``receive(_:)-(Span<UInt8>)``, then ``finish(_:)`` exactly once, and no call after it. A slow
/// sink slows the transfer down. This back-pressure bounds memory.
///
/// These are the calls of a transport that has the whole body:
///
/// ```swift
/// func deliver(_ head: ResponseHead, _ body: [UInt8], to sink: any TaskSink) {
///   guard sink.receive(head) == .proceed, sink.receive(body.span) == .proceed else {
///     return sink.finish(.cancelled)
///   }
///   sink.finish(.completed)
/// }
/// ```
public protocol TaskSink: Sendable {
  /// Receives the head of a final response: not a 1xx, and not a redirect that is followed.
  func receive(_ head: ResponseHead) -> BodyDisposition

  /// Receives the next bytes of the body, which are valid only during the call.
  func receive(_ bytes: Span<UInt8>) -> BodyDisposition

  /// Receives the number of bytes that the transport has stored so far, and the total if it is
  /// known.
  ///
  /// Only a ``BackgroundTransport`` calls this.
  func report(held byteCount: Int64, of total: Int64?)

  /// Receives the resume data of a task that ends early; ``finish(_:)`` follows.
  ///
  /// Only a ``BackgroundTransport`` calls this.
  func receive(resumeData: Data)

  /// Receives the outcome of the task. This is the last call.
  func finish(_ outcome: TaskOutcome)
}

extension TaskSink {
  /// Does nothing; sufficient for sinks that are not used with a ``BackgroundTransport``.
  public func report(held byteCount: Int64, of total: Int64?) {}

  /// Does nothing; sufficient for sinks that are not used with a ``BackgroundTransport``.
  public func receive(resumeData: Data) {}
}

/// A sink's answer to a head or to bytes: whether to continue the transfer.
public enum BodyDisposition: Sendable, Hashable {
  /// Continue the transfer.
  case proceed
  /// Cancel the task. The sink receives no further bytes, and the outcome is
  /// ``TaskOutcome/cancelled``.
  case cancel
}

/// The request of a task: a GET of an entity or, if the entity is unchanged, of its bytes from an
/// offset on, to another one or to the end.
///
/// ```swift
/// var request = TaskRequest(url: url, recordID: record.id, offset: 4_096, validator: "\"1\"")
/// request.headers = [HeaderField(name: "Accept-Language", value: "en")]
/// let task = transport.start(request, sink: sink)
/// ```
public struct TaskRequest: Sendable, Hashable {
  /// What a request asks for (RFC 9110, 9.3).
  public enum Method: String, Sendable, Hashable {
    /// The entity, or a range of its bytes.
    case get = "GET"
    /// The head of the response to `GET`, without a body.
    case head = "HEAD"
  }

  /// The absolute `http` or `https` URL, exactly as stored in the record.
  public var url: String
  /// The id of the record, which connects a live task with its record
  /// (`URLSessionTask.taskDescription`).
  ///
  /// Empty for a request that belongs to no download, such as that of a ``Document``: an engine that
  /// starts does not cancel it.
  public var recordID: String
  /// The method; the engine sends `GET` only.
  ///
  /// A ``BackgroundTransport`` ignores it, as it does ``followsRedirects``.
  public var method = Method.get
  /// Whether redirects are followed.
  ///
  /// Otherwise the sink receives the head of the redirect. Its body may be missing.
  public var followsRedirects = true
  /// The first requested byte.
  ///
  /// Above zero, the transport sends `Range: bytes=offset-` (RFC 9110, 14.2).
  public var offset: Int64
  /// The offset after the last requested byte; `nil` for the end of the entity.
  ///
  /// With an end, the transport sends `Range: bytes=offset-last`, where `last` is the byte before it.
  public var end: Int64?
  /// The value of `If-Range` (RFC 9110, 13.1.5): a strong entity tag or a date.
  ///
  /// Sent only with a range, and only to ``validatorOrigin``, also after redirects.
  public var validator: String?
  /// Scheme, host and port of the server that stated ``validator``, or ``ifNoneMatch`` and
  /// ``ifModifiedSince``, such as
  /// `https://example.com:443`; `nil` for those of ``url``.
  ///
  /// A server that is told a validator could repeat it, whatever it sends.
  public var validatorOrigin: String?
  /// The value of `If-None-Match` (RFC 9110, 13.1.2): the entity tag of the version that the caller has.
  ///
  /// Sent only without a range, and only to ``validatorOrigin``, as ``ifModifiedSince``. The sink then
  /// receives the head of a response with status 304 if the server has no other version.
  public var ifNoneMatch: String?
  /// The value of `If-Modified-Since` (RFC 9110, 13.1.3): the date of the version that the caller has.
  public var ifModifiedSince: String?
  /// Additional header fields, in order.
  ///
  /// `Range`, `If-Range` and `Accept-Encoding` are set by the transport; these fields are ignored
  /// here.
  public var headers: [HeaderField]
  /// The URL for whose origin credentials of the whole transport were given, such as the client
  /// certificate of ``ConnectionSettings``; `nil` for that of ``url``.
  ///
  /// The engine sets it to the URL of the record, so that a mirror does not receive them.
  public var credentialURL: String?
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
    end: Int64? = nil,
    validator: String? = nil,
    validatorOrigin: String? = nil,
    headers: [HeaderField] = [],
    credentialURL: String? = nil,
    resumeData: Data? = nil,
    allowsCellular: Bool = true,
    prefersBackground: Bool = false
  ) {
    self.url = url
    self.recordID = recordID
    self.offset = offset
    self.end = end
    self.validator = validator
    self.validatorOrigin = validatorOrigin
    self.headers = headers
    self.credentialURL = credentialURL
    self.resumeData = resumeData
    self.allowsCellular = allowsCellular
    self.prefersBackground = prefersBackground
  }
}

extension TaskRequest {
  /// The ``recordID`` of a request that belongs to no download.
  static let noRecord = ""

  /// The validator as far as the server of the URL receives it.
  package var sentValidator: String? {
    guard let validatorOrigin else { return validator }
    return RecordIdentity.origin(of: url) == validatorOrigin ? validator : nil
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

/// A snapshot of a live task.
///
/// ```swift
/// for task in await transport.liveTasks() where task.state == .running {
///   print(task.recordID, task.offset + task.bytesReceived)
/// }
/// ```
public struct TaskSnapshot: Sendable, Hashable {
  /// The state of a task; only a ``BackgroundTransport`` uses states other than `running`.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The task transfers bytes or waits for the network.
    case running
    /// The task is suspended until it is resumed.
    case suspended
    /// The task was cancelled and has not ended yet.
    case canceling
    /// The task has ended, and no sink has received its outcome.
    case ended
  }

  /// The task's id.
  public var id: TaskID
  /// The id of the task's record.
  public var recordID: String
  /// The number of body bytes passed to the sink so far, without those before ``offset``; for a
  /// ``BackgroundTransport``, the number of bytes that it has stored.
  public var bytesReceived: Int64
  /// The first requested byte.
  public var offset: Int64
  /// The state of the task.
  public var state: State
  /// Whether a ``BackgroundTransport`` has stored the whole body, from ``offset`` on.
  public var isDelivered: Bool

  /// Creates a snapshot.
  public init(
    id: TaskID,
    recordID: String,
    bytesReceived: Int64,
    offset: Int64 = 0,
    state: State = .running,
    isDelivered: Bool = false
  ) {
    self.id = id
    self.recordID = recordID
    self.bytesReceived = bytesReceived
    self.offset = offset
    self.state = state
    self.isDelivered = isDelivered
  }
}

/// The outcome of a task.
public enum TaskOutcome: Sendable, Hashable {
  /// The response is complete, as far as the protocol can show. Its status may be any: a 404 also
  /// ends with this outcome.
  case completed
  /// The task was cancelled, by ``Transport/cancel(_:)`` or by its sink.
  case cancelled
  /// The transfer failed.
  ///
  /// A transport reports what it alone can know: `timedOut`, `cannotConnect`, `cannotFindHost`,
  /// `connectionLost`, `insecure`, `badResponse`, `badRedirect`, `unsupportedURL`,
  /// `outOfResources`, or `unknown` for anything else. The other codes are conclusions of the
  /// engine, for example from a status or a file; it treats them as `unknown`.
  case failed(DownloadFailure)
}
