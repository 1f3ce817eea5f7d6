/// What a simulated server has under a URL, and how it behaves.
public struct SimulatedResource: Sendable, Hashable {
  /// The entity.
  public var body: SimulatedBody
  /// The value of `ETag`, quotes included.
  public var entityTag: String?
  /// The value of `Last-Modified`.
  public var lastModified: String?
  /// The status of every answer; of another one than 200 the body is an error page.
  public var status = 200
  /// The value of `Retry-After`.
  public var retryAfter: String?
  /// Whether a request for a part gets the part (RFC 9110, 14.2); otherwise the whole is sent.
  public var acceptsRanges = true
  /// Whether the whole is sent when the entity is not the one of `If-Range` (RFC 9110, 13.1.5).
  public var heedsIfRange = true
  /// How many bytes before the one that was asked for a part begins.
  public var overlap: Int64 = 0
  /// Whether a whole says how long it is.
  public var saysLength = true

  /// Describes an entity that is served as RFC 9110 has it.
  public init(_ body: SimulatedBody, entityTag: String? = nil, lastModified: String? = nil) {
    self.body = body
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}
