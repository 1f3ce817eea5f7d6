/// What the server has at one path, and how it behaves there.
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

  /// Where a redirect points.
  public struct Redirect: Sendable, Hashable {
    /// The value of `Location`, sent as it is; none if `nil`.
    public var location: String?
    /// The status, 300 to 399.
    public var status: Int

    /// Describes a redirect.
    public init(to location: String?, status: Int = 302) {
      self.location = location
      self.status = status
    }
  }

  /// What happens once every fault had its request.
  public enum AfterFaults: Sendable, Hashable {
    /// The server behaves.
    case healthy
    /// The last fault is applied for ever.
    case repeatLast
  }

  /// The content.
  public var body: Body
  /// The entity tag with its quotes, and with `W/` if it is weak.
  public var etag: String?
  /// The value of `Last-Modified`.
  public var lastModified: String?
  /// Whether `Range` has an effect.
  public var honoursRange = true
  /// Whether `If-Range` has an effect; without, a range is served whatever the validator.
  public var honoursIfRange = true
  /// How the end of the body is marked.
  public var framing = Framing.contentLength
  /// The speed of one connection in bytes per second; unlimited if `nil`.
  public var bytesPerSecond: Int64?
  /// Further response fields, in order, after the server's own.
  public var fields: [Field] = []
  /// A status to answer with instead of 200 or 206.
  ///
  /// The body is sent whole.
  public var status: Int?
  /// The value of `Retry-After`.
  public var retryAfter: String?
  /// A redirect to answer with instead of content.
  public var redirect: Redirect?
  /// The misbehaviours, one a request, first to last.
  public var faults: [Fault] = []
  /// What follows the last fault.
  public var afterFaults = AfterFaults.healthy
  /// Makes the bytes of each reply, instead of all the above.
  ///
  /// Called while the server decides: it must not call the server.
  public var rawReply: (@Sendable (Request) -> RawReply)?

  /// A resource whose replies are made by a function of the request.
  public init(rawReply: @escaping @Sendable (Request) -> RawReply) {
    self.init(.text(""), etag: nil)
    self.rawReply = rawReply
  }

  /// A healthy resource with the given content.
  public init(_ body: Body, etag: String? = "\"1\"", lastModified: String? = nil) {
    self.body = body
    self.etag = etag
    self.lastModified = lastModified
  }

  /// A resource that misbehaves: one fault a request, in order.
  public init(_ body: Body, faults: Fault..., then afterFaults: AfterFaults = .healthy) {
    self.init(body)
    self.faults = faults
    self.afterFaults = afterFaults
  }

  /// A resource that redirects.
  public init(redirectTo location: String?, status: Int = 302) {
    self.init(.text("moved"), etag: nil)
    redirect = Redirect(to: location, status: status)
  }

  /// The fault for the request with that number, counted from zero.
  func fault(atRequest index: Int) -> Fault {
    if let endless = faults.prefix(index + 1).last, case .resetEvery = endless { return endless }
    if index < faults.count { return faults[index] }
    guard afterFaults == .repeatLast, let last = faults.last else { return .none }
    return last
  }
}

/// Bytes that are sent as they are, in place of a reply.
public struct RawReply: Sendable, Hashable {
  /// What happens to the connection after the bytes.
  public enum Ending: Sendable, Hashable {
    /// FIN.
    case close
    /// RST, once the client has all bytes.
    case reset
    /// The connection takes another request.
    case keep
  }

  /// The bytes, head and body.
  public var bytes: [UInt8]
  /// What happens after them.
  public var ending: Ending

  /// Describes a reply.
  public init(_ bytes: [UInt8], ending: Ending = .close) {
    self.bytes = bytes
    self.ending = ending
  }
}
