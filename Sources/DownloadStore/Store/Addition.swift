/// A valid request with the properties that a new record of its URL would have.
struct Addition: Sendable {
  let request: DownloadRequest
  /// The normalized folder.
  let folder: String
  /// The wanted file name.
  let filename: String
  /// The wanted id.
  let id: String

  /// Validates a request.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidURL`, `invalidName`, `invalidHeader` or
  ///   `invalidRecord`.
  init(_ request: DownloadRequest) throws {
    try RecordIdentity.validate(request.url)
    for mirror in request.mirrors { try RecordIdentity.validate(mirror) }
    for field in request.headers { try field.validateForSending() }
    try request.validateNumbers()
    folder = try FileLayout.validatedFolder(request.folder)
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
  }

  /// The destination with the wanted file name.
  var destination: String {
    FileLayout.destination(root: request.root, folder: folder, filename: filename)
  }
}
