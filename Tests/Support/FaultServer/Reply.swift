/// The reply to a request, determined but not sent.
struct Reply {
  /// How the sending ends.
  enum Ending: Hashable {
    case whole
    case reset(afterBytes: Int64)
    case close(afterBytes: Int64)
    case stall(afterBytes: Int64)
  }

  /// The bytes to send instead of a header and a body.
  enum Substitute: Hashable {
    case nothing
    case silence
    case bytes([UInt8], then: RawReply.Ending)
    case bytesForEver([UInt8], repeating: [UInt8], everyMilliseconds: Int)
    case halfHeader
  }

  var status: Int
  var fields: [Field] = []
  var body: Body
  var range: Range<Int64>
  var framing = Resource.Framing.contentLength
  var bytesPerSecond: Int64?
  var rateGate: Gate?
  var endGate: Gate?
  var ending = Ending.whole
  var substitute: Substitute?
  /// The connection is reset once it has carried this many body bytes.
  var connectionLimit: Int64?

  /// Returns a reply with a short text.
  static func text(_ status: Int, _ text: String, fields: [Field] = []) -> Reply {
    let body = Body.text(text)
    return Reply(status: status, fields: fields, body: body, range: 0..<body.byteCount)
  }

  /// Returns the reply of `resource` to `request` under `fault`.
  init(to request: Request, resource: Resource, fault: Fault) {
    self.init(status: 200, body: resource.body, range: 0..<resource.body.byteCount)
    var resource = resource
    if case .entityTag(let tag) = fault { resource.etag = tag }
    if let make = resource.rawReply {
      let raw = make(request)
      substitute = .bytes(raw.bytes, then: raw.ending)
      return
    }
    if let status = resource.refusal?(request) {
      self = .text(
        status,
        "refused\n",
        fields: [Field("WWW-Authenticate", "Bearer realm=\"test\"")]
      )
      return
    }
    framing = resource.framing
    bytesPerSecond = resource.bytesPerSecond
    rateGate = resource.rateGate
    endGate = resource.endGate
    if let etag = resource.etag { fields.append(Field("ETag", etag)) }
    if let lastModified = resource.lastModified {
      fields.append(Field("Last-Modified", lastModified))
    }
    if let retryAfter = resource.retryAfter { fields.append(Field("Retry-After", retryAfter)) }
    if resource.honoursRange { fields.append(Field("Accept-Ranges", "bytes")) }
    fields += resource.fields

    if let redirect = resource.redirect {
      status = redirect.status
      if let location = redirect.location { fields.append(Field("Location", location)) }
    } else if let override = resource.status {
      status = override
    } else if resource.honoursConditions, request["Range"] == nil, Self.isCurrent(request, resource)
    {
      status = 304
      range = 0..<0
    } else if fault != .ignoreRange, let field = request["Range"], request.method == "GET",
      resource.honoursRange, Self.rangeApplies(request, resource)
    {
      select(ByteRange(field: field))
      if status == 206, !resource.repeatsValidators {
        fields.removeAll { ["ETag", "Last-Modified"].contains($0.name) }
      }
    }
    apply(fault, to: request)
  }

  private init(status: Int, fields: [Field] = [], body: Body, range: Range<Int64>) {
    self.status = status
    self.fields = fields
    self.body = body
    self.range = range
  }

  /// Whether the client has this version (RFC 9110, 13.2.2): a tag is compared weakly, and precedes the
  /// date.
  private static func isCurrent(_ request: Request, _ resource: Resource) -> Bool {
    if let known = request["If-None-Match"] {
      func bare(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
      return resource.etag.map { bare($0) == bare(known) } ?? false
    }
    guard let known = request["If-Modified-Since"] else { return false }
    return known == resource.lastModified
  }

  private static func rangeApplies(_ request: Request, _ resource: Resource) -> Bool {
    guard resource.honoursIfRange, let value = request["If-Range"] else { return true }
    if value.hasPrefix("\""), !resource.honoursIfRangeTags { return false }
    return ifRangeHolds(value, etag: resource.etag, lastModified: resource.lastModified)
  }

  private mutating func select(_ asked: ByteRange?) {
    switch asked?.selection(of: body.byteCount) {
    case nil, .whole: break
    case .bytes(let bytes): serve(bytes)
    case .unsatisfiable: refuseRange()
    }
  }

  private mutating func serve(_ bytes: Range<Int64>) {
    status = 206
    range = bytes
    let value = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(body.byteCount)"
    fields.append(Field("Content-Range", value))
  }

  private mutating func refuseRange() {
    status = 416
    range = 0..<0
    framing = .contentLength
    fields.removeAll { $0.name == "Content-Range" }
    fields.append(Field("Content-Range", "bytes */\(body.byteCount)"))
  }

  private mutating func apply(_ fault: Fault, to request: Request) {
    switch fault {
    case .none, .ignoreRange, .entityTag: break
    case .emptyBody:
      status = 200
      fields.removeAll { $0.name == "Content-Range" }
      range = 0..<0
    case .emptyRange(let hasLength):
      if !hasLength { framing = .chunked }
      if status != 206 { serve(range) }
      range = range.lowerBound..<range.lowerBound
    case .longBody(let declared, let hasLength):
      if !hasLength { framing = .chunked }
      let whole = range
      fields.removeAll { $0.name == "Content-Range" }
      serve(range.lowerBound..<min(range.upperBound, range.lowerBound + declared))
      body = body.damaged(at: range.upperBound)
      range = whole
    case .closeInsideHeader: substitute = .halfHeader
    case .resetAfter(let bytes): ending = .reset(afterBytes: bytes)
    case .closeAfter(let bytes): ending = .close(afterBytes: bytes)
    case .stallAfter(let bytes): ending = .stall(afterBytes: bytes)
    case .stallBeforeHeader: substitute = .silence
    case .emptyReply: substitute = .nothing
    case .rawResponse(let bytes): substitute = .bytes(bytes, then: .close)
    case .rawForEver(let bytes, let repeated, let milliseconds):
      substitute = .bytesForEver(bytes, repeating: repeated, everyMilliseconds: milliseconds)
    case .resetEvery(let bytes): connectionLimit = bytes
    case .wrongOffset(let offset):
      fields.removeAll { $0.name == "Content-Range" }
      serve(min(offset, body.byteCount - 1)..<body.byteCount)
    case .damage(let offset): body = body.damaged(at: offset)
    case .rangeNotSatisfiable: if request["Range"] != nil { refuseRange() }
    case .status(let status, let retryAfter):
      self = .text(
        status,
        "status \(status)\n",
        fields: retryAfter.map { [Field("Retry-After", $0)] } ?? []
      )
    }
  }
}
