/// A simulated server's resource at a URL, and the server's behaviour.
///
/// ```swift
/// var resource = SimulatedResource(SimulatedBody(seed: 1, byteCount: 1_000))
/// resource.acceptsRanges = false
/// transport.serve(resource, at: "https://example.com/a")
/// ```
public struct SimulatedResource: Sendable, Hashable {
  /// The entity.
  public var body: SimulatedBody
  /// The value of `ETag`, quotes included.
  public var entityTag: String?
  /// The value of `Last-Modified`.
  public var lastModified: String?
  /// The status of every response; the body is an error page unless it is 200.
  public var status = 200
  /// The value of `Retry-After`.
  public var retryAfter: String?
  /// Whether range requests are honoured (RFC 9110, 14.2).
  public var acceptsRanges = true
  /// Whether `If-Range` is honoured (RFC 9110, 13.1.5).
  public var heedsIfRange = true
  /// The number of bytes by which a partial response begins before the requested byte.
  public var overlap: Int64 = 0
  /// Whether `If-Range` is honoured if it is an entity tag; if not, the whole file is sent.
  public var heedsTags = true
  /// Whether partial responses state `ETag` and `Last-Modified`.
  public var repeatsValidators = true
  /// The number of wrong bytes with which a partial response exceeds its `Content-Range`.
  public var excess: Int64 = 0
  /// The status of the responses to requests for ranges with an end; `nil` for that of the file.
  public var rangeStatus: Int?
  /// Whether the body is empty, with status 200, in answer to a request for a range.
  public var emptiesRanges = false
  /// Whether each response to a request for a range states another strong entity tag.
  public var changesTags = false
  /// Whether `If-None-Match` and `If-Modified-Since` are honoured (RFC 9110, 13.1).
  public var heedsConditions = true
  /// Whether a full response declares its length.
  public var saysLength = true

  /// Creates a resource served according to RFC 9110.
  public init(_ body: SimulatedBody, entityTag: String? = nil, lastModified: String? = nil) {
    self.body = body
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}
