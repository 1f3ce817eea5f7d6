extension ResumeData {
  /// What resume data is made of, where the system gave none.
  ///
  /// A URL, a count of bytes and the partial file's name are known to be enough; a validator keeps two
  /// versions of a file apart.
  public struct Draft: Sendable, Hashable {
    /// How the partial file is named.
    public enum File: Sendable, Hashable {
      /// A name in the system's folder for temporary files: version 2 and later.
      case temporaryName(String)
      /// An absolute path: version 1, and WebKit.
      case localPath(String)
    }

    /// A request, whose archive goes into the resume data.
    public struct Request: Sendable, Hashable {
      /// The URL.
      public var url: String
      /// The method.
      public var method: String
      /// The fields of the header.
      public var headers: [URLRequestArchive.HeaderField]

      /// Describes a request.
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
    /// How many bytes the partial file has.
    public var received: Int64
    /// The partial file.
    public var file: File
    /// The entity tag of those bytes.
    public var entityTag: String?
    /// The `Last-Modified` of those bytes.
    public var lastModified: String?
    /// The version; `nil` is the one that goes with the form and the file.
    public var version: Int64?
    /// The request as it was made, if resume data is to have it.
    public var originalRequest: Request?
    /// The request after redirects, if resume data is to have it.
    public var currentRequest: Request?

    /// Describes resume data.
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

    /// The members, in the order of their names.
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

  /// Makes resume data in a form.
  ///
  /// Requests are written in the keyed spelling, which all systems but iOS 10.0 and 10.1 and those
  /// before iOS 9 read; ``prepared(for:)`` serves the others.
  ///
  /// - Throws: ``ResumeDataError`` with `invalidArgument` when a system could not use it, for
  ///   instance for a name that leads to another folder, or `notRepresentable` when a text cannot be
  ///   written in the form.
  public init(_ draft: Draft, form: Form) throws(ResumeDataError) {
    try self.init(ResumeDictionary(draft.members(for: form), form: form))
    if let defect = defects.first(where: \.code.isFatal) {
      throw ResumeDataError(.invalidArgument, defect.message)
    }
  }
}
