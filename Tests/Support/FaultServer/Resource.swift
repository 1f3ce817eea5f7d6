internal import SystemInterface

/// The content and behavior of the server at one path.
public struct Resource: Sendable {
  /// How the end of a body is marked.
  public enum Framing: Sendable, Hashable {
    /// By a `Content-Length`.
    case contentLength
    /// By `Transfer-Encoding: chunked`.
    case chunked
    /// By the end of the connection.
    case closeDelimited
  }

  /// The target of a redirect.
  public struct Redirect: Sendable, Hashable {
    /// The value of `Location`, sent unchanged; omitted if `nil`.
    public var location: String?
    /// The status, 300 to 399.
    public var status: Int

    /// Creates a redirect.
    public init(to location: String?, status: Int = 302) {
      self.location = location
      self.status = status
    }
  }

  /// The behavior after every fault has been used.
  public enum AfterFaults: Sendable, Hashable {
    /// The server behaves correctly.
    case healthy
    /// The last fault applies forever.
    case repeatLast
  }

  /// The content.
  public var body: Body
  /// The entity tag with its quotes, and with `W/` if weak.
  public var etag: String?
  /// The value of `Last-Modified`.
  public var lastModified: String?
  /// Whether `Range` is supported.
  public var honoursRange = true
  /// Whether `If-Range` is evaluated; if not, a range is served whatever the validator.
  public var honoursIfRange = true
  /// Whether `If-Range` is evaluated if it is an entity tag; if not, the whole body is sent.
  public var honoursIfRangeTags = true
  /// Whether `If-None-Match` and `If-Modified-Since` are evaluated; if not, the whole body is sent.
  public var honoursConditions = true
  /// Whether partial responses state `ETag` and `Last-Modified`.
  public var repeatsValidators = true
  /// How the end of the body is marked.
  public var framing = Framing.contentLength
  /// The rate of one connection in bytes per second; unlimited if `nil`.
  public var bytesPerSecond: Int64?
  /// Ends the limit of the rate, also of replies that have begun; `nil` to keep it.
  ///
  /// A reply that has stalled continues.
  /// The last byte of a whole reply waits for the gate, so that no transfer ends before it on a slow
  /// machine.
  public var rateGate: Gate?
  /// Delays the end of a reply that a fault shortens, until the gate is opened; `nil` for no delay.
  ///
  /// A client may drop bytes that its program has not read when the connection ends. A test that
  /// needs them opens the gate when the program has read them.
  public var endGate: Gate?
  /// Additional response fields, in order, after the server's own.
  public var fields: [Field] = []
  /// A status to send instead of 200 or 206.
  ///
  /// The whole body is sent.
  public var status: Int?
  /// Returns the status with which a request is refused, with a challenge; `nil` to answer it.
  ///
  /// Called while the server determines the reply: it must not call the server.
  public var refusal: (@Sendable (Request) -> Int?)?
  /// The value of `Retry-After`.
  public var retryAfter: String?
  /// A redirect to send instead of content.
  public var redirect: Redirect?
  /// The faults, one per request, in order.
  public var faults: [Fault] = []
  /// The behavior after the last fault.
  public var afterFaults = AfterFaults.healthy
  /// Computes the raw reply to a request, which replaces everything above.
  ///
  /// Called while the server determines the reply: it must not call the server.
  public var rawReply: (@Sendable (Request) -> RawReply)?

  /// Creates a resource whose replies are computed from the request.
  public init(rawReply: @escaping @Sendable (Request) -> RawReply) {
    self.init(.text(""), etag: nil)
    self.rawReply = rawReply
  }

  /// Creates a resource with the given content and no faults.
  public init(_ body: Body, etag: String? = "\"1\"", lastModified: String? = nil) {
    self.body = body
    self.etag = etag
    self.lastModified = lastModified
  }

  /// Creates a resource with one fault per request, in order.
  public init(_ body: Body, faults: Fault..., then afterFaults: AfterFaults = .healthy) {
    self.init(body)
    self.faults = faults
    self.afterFaults = afterFaults
  }

  /// Creates a resource that redirects.
  public init(redirectTo location: String?, status: Int = 302) {
    self.init(.text("moved"), etag: nil)
    redirect = Redirect(to: location, status: status)
  }

  /// Returns the fault of the request with the given number, counted from zero.
  func fault(atRequest index: Int) -> Fault {
    if let endless = faults.prefix(index + 1).last, case .resetEvery = endless { return endless }
    if index < faults.count { return faults[index] }
    guard afterFaults == .repeatLast, let last = faults.last else { return .none }
    return last
  }
}

/// A signal from a test to replies that have begun: the test has seen what it needs.
public final class Gate: Sendable {
  private let isOpened = Atomic(false)

  /// Creates a closed gate.
  public init() {}

  /// Whether the gate was opened.
  var isOpen: Bool { isOpened.load(ordering: .relaxed) }

  /// Opens the gate; it is not closed again.
  public func open() { isOpened.store(true, ordering: .relaxed) }
}

/// Bytes sent unchanged instead of a reply.
public struct RawReply: Sendable, Hashable {
  /// The end of the connection after the bytes.
  public enum Ending: Sendable, Hashable {
    /// FIN.
    case close
    /// RST, once the client has received all bytes.
    case reset
    /// The connection accepts another request.
    case keep
  }

  /// The bytes of head and body.
  public var bytes: [UInt8]
  /// The end of the connection after the bytes.
  public var ending: Ending

  /// Creates a reply.
  public init(_ bytes: [UInt8], ending: Ending = .close) {
    self.bytes = bytes
    self.ending = ending
  }
}
