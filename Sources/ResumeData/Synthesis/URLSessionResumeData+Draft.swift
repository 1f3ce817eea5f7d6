extension URLSessionResumeData {
  /// The contents of new resume data, for use when the system produced none.
  ///
  /// A URL, a count of bytes and the partial file's name suffice. A validator distinguishes
  /// versions of the file.
  ///
  /// ```swift
  /// var draft = URLSessionResumeData.Draft(
  ///   url: "https://example.com/model.bin",
  ///   received: 5_000_000,
  ///   file: .temporaryName("CFNetworkDownload_1.tmp"),
  ///   entityTag: "\"1\""
  /// )
  /// draft.currentRequest = .init(url: draft.url)
  /// let data = try URLSessionResumeData(draft, form: .keyedArchive)
  /// ```
  public struct Draft: Sendable, Hashable {
    /// The location of the partial file.
    public enum File: Sendable, Hashable {
      /// A name in the system's folder for temporary files: version 2 and later.
      case temporaryName(String)
      /// An absolute path: version 1, and WebKit.
      case localPath(String)
    }

    /// A request to archive in the resume data.
    public struct Request: Sendable, Hashable {
      /// The URL.
      public var url: String
      /// The method.
      public var method: String
      /// The header fields.
      public var headers: [URLRequestArchive.HeaderField]

      /// Creates a request.
      public init(
        url: String,
        method: String = "GET",
        headers: [URLRequestArchive.HeaderField] = []
      ) {
        self.url = url
        self.method = method
        self.headers = headers
      }
    }

    /// The URL.
    public var url: String
    /// The size of the partial file in bytes.
    public var received: Int64
    /// The partial file.
    public var file: File
    /// The entity tag of the received bytes.
    public var entityTag: String?
    /// The `Last-Modified` of the received bytes.
    public var lastModified: String?
    /// The version; `nil` for the one that matches the format and the file.
    public var version: Int64?
    /// The original request; `nil` to leave it out.
    public var originalRequest: Request?
    /// The request after redirects; `nil` to leave it out.
    public var currentRequest: Request?

    /// Creates a draft.
    public init(
      url: String,
      received: Int64,
      file: File,
      entityTag: String? = nil,
      lastModified: String? = nil,
      version: Int64? = nil
    ) {
      self.url = url
      self.received = received
      self.file = file
      self.entityTag = entityTag
      self.lastModified = lastModified
      self.version = version
    }

    private func version(for form: Form) -> Int64 {
      if let version { return version }
      if form.isKeyedArchive { return 4 }
      if case .localPath = file { return 1 }
      return 2
    }

    /// The members, sorted by name.
    func members(for form: Form) throws(ResumeDataError) -> PropertyListDictionary {
      var values: [Key: PropertyList] = [
        .downloadURL: .string(url), .bytesReceived: .integer(Int128(received)),
        .version: .integer(Int128(version(for: form))),
      ]
      switch file {
      case .temporaryName(let name): values[.temporaryFileName] = .string(name)
      case .localPath(let path): values[.localPath] = .string(path)
      }
      values[.entityTag] = entityTag.map(PropertyList.string)
      values[.serverDownloadDate] = lastModified.map(PropertyList.string)
      values[.originalRequest] = try Self.archive(originalRequest)
      values[.currentRequest] = try Self.archive(currentRequest)
      var members = PropertyListDictionary()
      for (key, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        members.append(value, for: key.rawValue)
      }
      return members
    }

    private static func archive(_ request: Request?) throws(ResumeDataError) -> PropertyList? {
      guard let request else { return nil }
      let archive = try URLRequestArchive(
        url: request.url,
        method: request.method,
        headers: request.headers
      )
      return .data(try archive.encoded())
    }
  }

  /// Creates resume data in a format.
  ///
  /// Requests are written in the keyed spelling, which all systems read except iOS 10.0, 10.1 and
  /// those before iOS 9; use ``prepared(for:)`` for the others.
  ///
  /// - Throws: ``ResumeDataError`` with `invalidArgument` if no system could use it, for example
  ///   because the file name contains a path, or `notRepresentable` if a string cannot be written
  ///   in the format.
  public init(_ draft: Draft, form: Form) throws(ResumeDataError) {
    try self.init(ResumeDictionary(draft.members(for: form), form: form))
    if let defect = defects.first(where: \.code.isFatal) {
      throw ResumeDataError(.invalidArgument, defect.message)
    }
  }
}
