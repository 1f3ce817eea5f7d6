extension URLSessionResumeData {
  /// The validity of stored resume data for its record, an input of reconciliation.
  ///
  /// ```swift
  /// let facts = URLSessionResumeData.Facts(url: url, temporaryFile: .present(byteCount: size))
  /// switch URLSessionResumeData.validity(of: bytes, given: facts) {
  /// case .valid: print("continue")
  /// case .stale(let difference): print("another", difference)
  /// case .corrupt(let defect): print(defect.message)
  /// case .none, .temporaryFileMissing: print("start from the first byte")
  /// }
  /// ```
  public enum Validity: Sendable, Hashable {
    /// There is no resume data.
    case none
    /// It can be used.
    case valid
    /// It can never be used, because of the defect.
    case corrupt(Defect)
    /// It no longer matches the record.
    case stale(Difference)
    /// Its partial file is gone.
    case temporaryFileMissing
  }

  /// The difference between resume data and its record.
  public enum Difference: String, Sendable, Hashable, CaseIterable {
    /// The record has another URL, so its requests are outdated too.
    case url
    /// The record's bytes belong to another version of the file.
    case validator
  }

  /// The facts that decide the validity.
  public struct Facts: Sendable, Hashable {
    /// The state of the partial file.
    public enum TemporaryFile: Sendable, Hashable {
      /// Not examined.
      case unknown
      /// The file does not exist.
      case missing
      /// The file exists and has this size in bytes.
      case present(byteCount: Int64)
    }

    /// The record's URL.
    public var url: String?
    /// The entity tag of the record's bytes.
    public var entityTag: String?
    /// The `Last-Modified` of the record's bytes.
    public var lastModified: String?
    /// The partial file that the resume data names.
    public var temporaryFile: TemporaryFile

    /// Creates facts; values that are `nil` or unknown are not checked.
    public init(
      url: String? = nil,
      entityTag: String? = nil,
      lastModified: String? = nil,
      temporaryFile: TemporaryFile = .unknown
    ) {
      self.url = url
      self.entityTag = entityTag
      self.lastModified = lastModified
      self.temporaryFile = temporaryFile
    }
  }

  /// Returns the validity of stored bytes; empty bytes count as none.
  public static func validity(
    of bytes: [UInt8]?,
    given facts: Facts = Facts(),
    limits: PropertyListLimits = .standard
  ) -> Validity {
    guard let bytes, !bytes.isEmpty else { return .none }
    do throws(ResumeDataError) {
      return try URLSessionResumeData(bytes, limits: limits).validity(given: facts)
    } catch {
      return .corrupt(Defect(.unreadable, "\(error)"))
    }
  }

  /// Returns the validity of the resume data, never ``Validity/none``.
  ///
  /// `corrupt` takes precedence over `stale`, and `stale` over a missing file.
  public func validity(given facts: Facts = Facts()) -> Validity {
    if let defect = defects.first(where: \.code.isFatal) { return .corrupt(defect) }
    if let difference = difference(from: facts) { return .stale(difference) }
    switch (facts.temporaryFile, received) {
    case (.missing, _): return .temporaryFileMissing
    case (.present(let byteCount), let received?) where byteCount < received:
      return .corrupt(Defect(.shortFile, "its partial file has \(byteCount) of \(received) bytes"))
    case (.unknown, nil):
      // The count of received bytes is unknown.
      return .corrupt(Defect(.missingByteCount, "nothing says how many bytes have arrived"))
    case (.present, _), (.unknown, _): return .valid
    }
  }

  private func difference(from facts: Facts) -> Difference? {
    if let recordURL = facts.url, !names(recordURL) { return .url }
    // As for If-Range: a strong tag decides, else the date (RFC 9110, 13.1.5).
    if let own = entityTag, let other = facts.entityTag, !own.hasPrefix("W/"),
      !other.hasPrefix("W/")
    {
      return own == other ? nil : .validator
    }
    if let own = lastModified, let other = facts.lastModified {
      return own == other ? nil : .validator
    }
    if let own = entityTag, let other = facts.entityTag {
      return Self.opaque(own) == Self.opaque(other) ? nil : .validator
    }
    return nil
  }

  /// The tag without `W/` (RFC 9110, 8.8.3.2: weak comparison).
  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Whether the data belongs to the URL, before or after redirects.
  private func names(_ recordURL: String) -> Bool {
    let wanted = Self.wireForm(recordURL)
    return [url, originalRequest?.url].contains { $0.map(Self.wireForm) == wanted }
  }

  /// The URL with invalid characters escaped, as NSURL does when parsing.
  private static func wireForm(_ url: String) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in url.utf8 {
      if byte > 0x20, byte < 0x7F, !"\"<>\\^`{|}".utf8.contains(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
      }
    }
    return result
  }
}
