internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The bodies of the API's requests.
enum APIRequests {
  /// The maximum number of downloads that one request adds.
  static let maximumAdditions = 10_000

  /// Parses the body of `POST /api/v1/downloads`: `{"requests":[{"url":…}, …]}`.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  static func additions(_ bytes: [UInt8]) throws(ServerError) -> [DownloadRequest] {
    var body = try JSONBody(bytes)
    guard case .array(let values)? = body.value("requests"), !values.isEmpty else {
      throw ServerError(.invalidRequest, "the body has no array 'requests'")
    }
    guard values.count <= maximumAdditions else {
      throw ServerError(.invalidRequest, "one request adds at most \(maximumAdditions) downloads")
    }
    try body.end()
    var requests: [DownloadRequest] = []
    var digests = ListedDigests()
    for (index, value) in values.enumerated() {
      var request = try addition(value, "requests[\(index)]")
      if let earlier = digests.conflict(of: &request, at: index) {
        throw ServerError(
          .invalidRequest,
          "requests[\(earlier)] has another checksum of the file of requests[\(index)]"
        )
      }
      requests.append(request)
    }
    return requests
  }

  private static func addition(
    _ value: JSONValue,
    _ place: String
  ) throws(ServerError) -> DownloadRequest {
    var body = try JSONBody(value, place)
    guard let url = try body.text("url") else {
      throw ServerError(.invalidRequest, "\(place) has no 'url'")
    }
    var request = DownloadRequest(url: url)
    request.key = try body.text("key")
    request.filename = try body.text("filename")
    request.folder = try body.text("folder") ?? ""
    request.type = try body.text("type")
    request.tags = try tags(body.texts("tags"), place)
    request.priority = try body.number("priority")
    request.mirrors = try body.texts("mirrors")
    do {
      try RecordLimits.requireMirrors(request.mirrors)
    } catch {
      throw ServerError(.invalidRequest, "'mirrors' of \(place): \(error.message)")
    }
    request.connections = try body.number("connections")
    request.bytesPerSecond = try body.number("limitRate")
    request.notBefore = try body.time("notBefore")
    request.keepVersions = try body.number("keepVersions")
    let seconds: Int64? = try body.number("refreshEvery")
    request.refreshEvery = seconds.map { .seconds($0) }
    request.isPaused = try body.flag("paused") ?? false
    if let text = try body.text("ifExists") {
      guard let collision = NameCollision(rawValue: text) else {
        let words = NameCollision.allCases.map(\.rawValue).joined(separator: " ")
        throw ServerError(.invalidRequest, "'ifExists' of \(place) is none of: \(words)")
      }
      request.collision = collision
    }
    if let text = try body.text("checksum") {
      do {
        request.digest = try Digest(text)
      } catch {
        throw ServerError(.invalidRequest, "'checksum' of \(place) is not ALGORITHM:HEX")
      }
    }
    if let value = body.value("headers") { request.headers = try headers(value, place) }
    try body.end()
    return request
  }

  private static func tags(
    _ texts: [String],
    _ place: String
  ) throws(ServerError) -> Set<String> {
    guard !texts.contains("") else {
      throw ServerError(.invalidRequest, "'tags' of \(place) has an empty tag")
    }
    return Set(texts)
  }

  private static func headers(
    _ value: JSONValue,
    _ place: String
  ) throws(ServerError) -> [HeaderField] {
    let members = " with the strings 'name' and 'value'"
    guard case .array(let values) = value else {
      throw ServerError(
        .invalidRequest,
        "'headers' of \(place) is not an array; each of its elements is an object\(members)"
      )
    }
    var fields: [HeaderField] = []
    for (index, value) in values.enumerated() {
      var field = try JSONBody(value, "\(place).headers[\(index)]", with: members)
      guard let name = try field.text("name"), let text = try field.text("value") else {
        throw ServerError(.invalidRequest, "\(place).headers[\(index)] has no name or no value")
      }
      try field.end()
      fields.append(HeaderField(name: name, value: text))
    }
    return fields
  }

  /// Parses the body of `PATCH /api/v1/downloads/{id}`.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  static func update(_ bytes: [UInt8]) throws(ServerError) -> RecordUpdate {
    var body = try JSONBody(bytes)
    var update = RecordUpdate()
    update.filename = try body.text("filename")
    update.type = try body.text("type")
    update.addedTags = try tags(body.texts("addTags"), "the body")
    update.removedTags = try tags(body.texts("removeTags"), "the body")
    update.priority = try body.number("priority")
    // Null removes the value.
    if body.has("limitRate") { update.bytesPerSecond = .some(try body.number("limitRate")) }
    if body.has("connections") { update.connections = .some(try body.number("connections")) }
    if body.has("notBefore") { update.notBefore = .some(try body.time("notBefore")) }
    if body.has("keepVersions") { update.keepVersions = .some(try body.number("keepVersions")) }
    if body.has("refreshEvery") {
      let seconds: Int64? = try body.number("refreshEvery")
      update.refreshEvery = .some(seconds.map { .seconds($0) })
    }
    update.url = try body.text("url")
    try body.end()
    guard update != RecordUpdate() else {
      throw ServerError(.invalidRequest, "the body changes nothing")
    }
    return update
  }

  /// Parses the body of `POST /api/v1/downloads/actions`:
  /// `{"action":"pause","ids":[…] or "filter":{…},"dryRun":false}`.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  static func action(_ bytes: [UInt8]) throws(ServerError) -> APIAction {
    var body = try JSONBody(bytes)
    guard let word = try body.text("action"), let kind = APIAction.Kind(rawValue: word) else {
      let words = APIAction.Kind.allCases.map(\.rawValue).joined(separator: " ")
      throw ServerError(.invalidRequest, "'action' is none of: \(words)")
    }
    var action = APIAction(kind)
    action.withFile = try body.flag("withFile") ?? false
    action.isPreview = try body.flag("dryRun") ?? false
    let ids = body.has("ids") ? try body.texts("ids") : nil
    let filter = body.value("filter")
    switch (ids, filter) {
    case (let ids?, nil): action.selection = .names(ids)
    case (nil, let filter?): action.selection = .filter(try self.filter(filter))
    default:
      throw ServerError(.invalidRequest, "the body has either 'ids' or 'filter'")
    }
    try body.end()
    return action
  }

  /// Parses the body of `POST /api/v1/downloads/{id}/{action}`, which may be empty.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  static func action(
    _ kind: APIAction.Kind,
    of name: String,
    _ bytes: [UInt8]
  ) throws(ServerError) -> APIAction {
    var action = APIAction(kind)
    action.selection = .names([name])
    guard !bytes.isEmpty else { return action }
    var body = try JSONBody(bytes)
    action.withFile = try body.flag("withFile") ?? false
    action.isPreview = try body.flag("dryRun") ?? false
    try body.end()
    return action
  }

  private static func filter(_ value: JSONValue) throws(ServerError) -> DownloadFilter {
    var body = try JSONBody(value, "'filter'")
    var filter = DownloadFilter()
    var hasCondition = false
    func add(_ name: String, _ text: String) throws(ServerError) {
      try filter.set(name, text)
      hasCondition = true
    }
    for name in ["state", "tag"] {
      for text in try body.texts(name) { try add(name, text) }
    }
    for name in ["type", "match", "host"] {
      if let text = try body.text(name) { try add(name, text) }
    }
    try body.end()
    // A program that has left out a value does not mean all downloads.
    guard hasCondition else {
      throw ServerError(
        .invalidRequest,
        "'filter' has no condition: for all downloads, name all states"
      )
    }
    return filter
  }
}
