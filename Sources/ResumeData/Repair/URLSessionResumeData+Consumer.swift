extension URLSessionResumeData {
  /// The system that will resume the download, as far as systems differ.
  ///
  /// ```swift
  /// let consumer = URLSessionResumeData.Consumer(iOS: 10, 1, directory: folder)
  /// print(try data.needsRepair(for: consumer) ? "repaired for iOS 10.1" : "unchanged")
  /// let prepared = try data.prepared(for: consumer)
  /// let task = session.downloadTask(withResumeData: Data(prepared.bytes))
  /// ```
  public enum Consumer: Sendable, Hashable {
    /// Any system that accepts resume data unchanged: all except those below.
    case identity
    /// iOS 10.0 and 10.1, which write requests in the keyed spelling but read the unkeyed one.
    case iOS10
    /// iOS 11.0 to 11.2, which fail after a second pause if there is a byte range.
    case iOS11
    /// Version 1, up to iOS 8, whose partial file's folder may have moved with the application.
    case version1(directory: String)

    /// The consumer for a version of iOS.
    ///
    /// - Parameters:
    ///   - major: Such as 10.
    ///   - minor: Such as 1.
    ///   - directory: The absolute path of the folder that now contains version 1 partial files.
    public init(iOS major: Int, _ minor: Int, directory: String) {
      switch (major, minor) {
      case (...8, _): self = .version1(directory: directory)
      case (10, ...1): self = .iOS10
      case (11, ...2): self = .iOS11
      default: self = .identity
      }
    }
  }

  /// Returns the resume data repaired for a system.
  ///
  /// Apply this when the data is passed to the system, and store the original: the same bytes are
  /// right for a later system. Data that needs no change is returned with its bytes unchanged, so
  /// repeated calls have no further effect. Systems before iOS 12 cannot read a dictionary in a
  /// keyed archive; they get a property list in XML.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepairable` if a change would be a guess,
  ///   `notRepresentable` if a keyed archive contains values that a property list cannot represent,
  ///   or `invalidArgument` if the directory is not an absolute path.
  public func prepared(for consumer: Consumer) throws(ResumeDataError) -> URLSessionResumeData {
    switch consumer {
    case .identity: return self
    case .version1(let directory): return try rebased(to: directory)
    case .iOS11: return try asPropertyList().changing(.byteRange, to: nil)
    case .iOS10:
      var result = try asPropertyList()
      for key in [Key.currentRequest, .originalRequest] {
        result = try result.respelling(key, as: .unkeyed)
      }
      return result
    }
  }

  /// Whether the data needs a change for a system.
  ///
  /// - Throws: As ``prepared(for:)``.
  public func needsRepair(for consumer: Consumer) throws(ResumeDataError) -> Bool {
    try prepared(for: consumer).bytes != bytes
  }

  /// Returns the resume data with another count of received bytes.
  ///
  /// Use it to resume from a copy of the partial file after a connection was lost without resume
  /// data.
  ///
  /// ```swift
  /// let longer = try data.settingReceived(5_000_000)
  /// ```
  ///
  /// - Throws: ``ResumeDataError`` with `invalidArgument` for a negative count.
  public func settingReceived(_ byteCount: Int64) throws(ResumeDataError) -> URLSessionResumeData {
    guard byteCount >= 0 else {
      throw ResumeDataError(
        .invalidArgument,
        "the number of received bytes must not be negative: \(byteCount)"
      )
    }
    guard received != byteCount else { return self }
    return try changing(.bytesReceived, to: .integer(Int128(byteCount)))
  }

  /// Returns the same resume data in another format.
  ///
  /// ```swift
  /// let text = String(decoding: try data.converted(to: .xml).bytes, as: UTF8.self)
  /// ```
  ///
  /// - Throws: ``ResumeDataError`` with `notRepresentable` if a keyed archive contains values that
  ///   a property list cannot represent.
  public func converted(to form: Form) throws(ResumeDataError) -> URLSessionResumeData {
    guard form != self.form else { return self }
    return try URLSessionResumeData(dictionary.converted(to: form))
  }

  // MARK: Single changes

  private func asPropertyList() throws(ResumeDataError) -> URLSessionResumeData {
    form.isKeyedArchive ? try converted(to: .xml) : self
  }

  private func changing(
    _ key: Key,
    to value: PropertyList?
  ) throws(ResumeDataError) -> URLSessionResumeData {
    guard value != nil || dictionary.keys.contains(key.rawValue) else { return self }
    var dictionary = dictionary
    try dictionary.set(key, to: value)
    return try URLSessionResumeData(dictionary)
  }

  private func respelling(
    _ key: Key,
    as spelling: URLRequestArchive.Spelling
  ) throws(ResumeDataError) -> URLSessionResumeData {
    guard let bytes = try dictionary.data(key) else { return self }
    let request = try URLRequestArchive(bytes, limits: dictionary.limits)
    let respelled = try request.respelled(as: spelling)
    guard respelled != request else { return self }
    return try changing(key, to: .data(respelled.encoded(limits: dictionary.limits)))
  }

  private func rebased(to directory: String) throws(ResumeDataError) -> URLSessionResumeData {
    guard directory.hasPrefix("/") else {
      throw ResumeDataError(.invalidArgument, "the directory must be an absolute path")
    }
    guard temporaryFileName == nil, localPath != nil else { return self }
    guard let name = partialFileName else {
      throw ResumeDataError(.notRepairable, "the path of the partial file has no file name")
    }
    let path = directory + (directory.hasSuffix("/") ? "" : "/") + name
    return path == localPath ? self : try changing(.localPath, to: .string(path))
  }
}
