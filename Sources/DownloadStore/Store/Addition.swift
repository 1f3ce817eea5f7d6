/// A valid request with the properties that a new record of its URL would have.
struct Addition: Sendable {
  private(set) var request: DownloadRequest
  /// The URL for which the header fields were given.
  let givenURL: String
  /// The normalized folder.
  let folder: String
  /// The wanted file name.
  let filename: String
  /// The wanted id.
  private(set) var id: String

  /// Validates a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - acceptsHiddenFolder: Whether the folder may be hidden.
  /// - Throws: ``RecordStoreError`` with `invalidURL`, `invalidName`, `invalidHeader`,
  ///   `invalidKey`, `invalidTag` or `invalidRecord`.
  init(_ request: DownloadRequest, acceptsHiddenFolder: Bool) throws {
    try RecordIdentity.validate(request.url)
    for mirror in request.mirrors { try RecordIdentity.validate(mirror) }
    for field in request.headers { try field.validateForSending() }
    try request.validateNumbers()
    folder = try FileLayout.validatedFolder(request.folder, acceptsHidden: acceptsHiddenFolder)
    guard request.filename?.isEmpty != true, request.type?.isEmpty != true else {
      throw RecordStoreError(
        .invalidName,
        "'\(Redaction.url(request.url))' cannot be added with an empty file name or type"
      )
    }
    filename =
      request.filename.map { SafeFilename.sanitized($0) }
      ?? SafeFilename.suggested(byURL: request.url)
    id = request.id ?? RecordIdentity.id(forURL: request.url)
    self.request = request
    givenURL = request.url
  }

  /// The addition to the record of another URL, which has the request's URLs as mirrors, unless these
  /// differ only in the fragment.
  func joining(_ url: String) -> Self {
    guard !url.utf8.elementsEqual(request.url.utf8) else { return self }
    var addition = self
    let urls = [request.url] + request.mirrors
    let requested = url.withoutFragment
    addition.request.mirrors = urls.filter {
      !$0.withoutFragment.utf8.elementsEqual(requested.utf8)
    }
    addition.request.url = url
    if request.id == nil { addition.id = RecordIdentity.id(forURL: url) }
    return addition
  }

  /// The addition with its URL as the key, because that is a key of a download.
  func keyedByURL() -> Self {
    var addition = self
    addition.request.key = request.url
    return addition
  }

  /// The destination with the wanted file name.
  var destination: String {
    FileLayout.destination(root: request.root, folder: folder, filename: filename)
  }

  /// Whether a known download takes the header fields.
  ///
  /// Fields for the origin of a mirror do not replace those for the origin of the URL.
  func givesHeaders(to known: DownloadRecord) -> Bool {
    let isForURL = RecordIdentity.origin(of: givenURL) == RecordIdentity.origin(of: known.url)
    return !request.headers.isEmpty && (isForURL || !known.hasHeaders)
  }
}

extension String {
  /// The text before the first number sign: the part of a URL that is requested.
  var withoutFragment: Substring {
    self[..<(utf8.firstIndex(of: UInt8(ascii: "#")) ?? endIndex)]
  }
}
