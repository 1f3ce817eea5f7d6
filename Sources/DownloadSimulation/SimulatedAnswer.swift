internal import DownloadStore
public import DownloadSync

/// The response of a simulated server.
///
/// ```swift
/// let resource = SimulatedResource(SimulatedBody(seed: 1, byteCount: 1_000))
/// let request = TaskRequest(url: "https://example.com/a", recordID: "1", offset: 400)
/// let answer = SimulatedAnswer(to: request, from: resource)
/// print(answer.head.status)                          // 206
/// print(answer.head["Content-Range"] ?? "none")      // bytes 400-999/1000
/// ```
public struct SimulatedAnswer: Sendable, Hashable {
  /// The body of a response.
  public enum Content: Sendable, Hashable {
    /// A range of the file.
    case entity(SimulatedBody, Range<Int64>)
    /// An error page.
    case page([UInt8])
  }

  /// The head.
  public var head: ResponseHead
  /// The body.
  public var content: Content
  /// The number of wrong bytes that follow the body.
  public var excess: Int64 = 0

  /// Computes the response to a request; 404 without a resource.
  ///
  /// Pure; follows RFC 9110, sections 13 to 15.
  public init(to request: TaskRequest, from resource: SimulatedResource?) {
    let page = request.method == .head ? [] : Self.page
    if let status = resource?.rangeStatus, request.end != nil {
      let length = HeaderField(name: "Content-Length", value: "\(Self.page.count)")
      head = ResponseHead(status: status, fields: [length], url: request.url)
      content = .page(page)
      return
    }
    guard var resource, resource.status == 200 else {
      var fields = [HeaderField(name: "Content-Length", value: "\(Self.page.count)")]
      if let wait = resource?.retryAfter {
        fields.append(HeaderField(name: "Retry-After", value: wait))
      }
      let status = resource?.status ?? 404
      head = ResponseHead(status: status, fields: fields, url: request.url)
      content = .page(page)
      return
    }
    let isForRange = request.offset > 0 || request.end != nil
    if resource.changesTags, isForRange { resource.entityTag = "\"edge \(request.offset)\"" }
    var fields: [HeaderField] = []
    if let tag = resource.entityTag { fields.append(HeaderField(name: "ETag", value: tag)) }
    if let date = resource.lastModified {
      fields.append(HeaderField(name: "Last-Modified", value: date))
    }
    let size = resource.body.byteCount
    let isSame =
      request.sentValidator.map { validator in
        resource.heedsTags && validator == resource.entityTag || validator == resource.lastModified
      } ?? true
    var status = 200
    var part = 0..<size
    if !isForRange, resource.heedsConditions, request.names(resource) {
      head = ResponseHead(status: 304, fields: fields, url: request.url)
      content = .page([])
      return
    }
    if resource.emptiesRanges, isForRange {
      part = 0..<0
    } else if isForRange, resource.acceptsRanges, isSame || !resource.heedsIfRange {
      if request.offset >= size {
        status = 416
        part = 0..<0
        fields.append(HeaderField(name: "Content-Range", value: "bytes */\(size)"))
      } else {
        status = 206
        part = max(0, request.offset - resource.overlap)..<min(size, request.end ?? size)
        let range = "\(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        if !resource.repeatsValidators { fields = [] }
        fields.append(HeaderField(name: "Content-Range", value: "bytes \(range)"))
        excess = resource.excess
      }
    }
    if excess == 0, resource.saysLength || status != 200 {
      let length = part.upperBound - part.lowerBound
      fields.append(HeaderField(name: "Content-Length", value: "\(length)"))
    }
    head = ResponseHead(status: status, fields: fields, url: request.url)
    content = request.method == .head ? .page([]) : .entity(resource.body, part)
  }

  /// The number of bytes.
  var byteCount: Int64 {
    switch content {
    case .entity(_, let part): part.upperBound - part.lowerBound + excess
    case .page(let bytes): Int64(bytes.count)
    }
  }

  /// A range of the bytes.
  func bytes(_ range: Range<Int64>) -> [UInt8] {
    switch content {
    case .entity(let body, let part):
      body[
        min(
          part.lowerBound + range.lowerBound,
          part.upperBound
        )..<min(
          part.lowerBound + range.upperBound,
          part.upperBound
        )
      ]
        + [UInt8](
          repeating: 0xEE,
          count: Int(
            max(0, range.upperBound - max(range.lowerBound, part.upperBound - part.lowerBound))
          )
        )
    case .page(let bytes):
      Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
  }

  private static let page = Array("this is not the file".utf8)
}

extension TaskRequest {
  /// Whether the conditions of the request name the version that a server has (RFC 9110, 13.2.2).
  fileprivate func names(_ resource: SimulatedResource) -> Bool {
    guard RecordIdentity.origin(of: url) == validatorOrigin ?? RecordIdentity.origin(of: url) else {
      return false
    }
    if let ifNoneMatch { return ifNoneMatch == resource.entityTag }
    return ifModifiedSince != nil && ifModifiedSince == resource.lastModified
  }
}
