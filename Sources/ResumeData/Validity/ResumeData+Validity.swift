extension ResumeData {
  /// What resume data is to a record of a download: the axis of reconciliation.
  public enum Validity: Sendable, Hashable {
    /// There is none.
    case none
    /// It can be used.
    case valid
    /// It can never be used, for that defect.
    case corrupt(Defect)
    /// It belongs to something else by now.
    case stale(Difference)
    /// Its partial file is gone.
    case temporaryFileMissing
  }

  /// What tells resume data from the record that it lies at.
  public enum Difference: String, Sendable, Hashable, CaseIterable {
    /// The record has another URL, so the headers are old too.
    case url
    /// The record's bytes are of another version of the file.
    case validator
  }

  /// What is known beside the resume data.
  public struct Facts: Sendable, Hashable {
    /// What lies where the partial file should be.
    public enum TemporaryFile: Sendable, Hashable {
      /// Nobody has looked.
      case unknown
      /// Nothing.
      case missing
      /// A file with so many bytes.
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

    /// States facts; what is `nil` or unknown decides nothing.
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

  /// What stored bytes are to a record.
  ///
  /// Empty ones are none.
  public static func validity(
    of bytes: [UInt8]?,
    given facts: Facts = Facts(),
    limits: PropertyListLimits = .standard
  ) -> Validity {
    guard let bytes, !bytes.isEmpty else { return .none }
    do throws(ResumeDataError) {
      return try ResumeData(bytes, limits: limits).validity(given: facts)
    } catch {
      return .corrupt(Defect(.unreadable, "\(error)"))
    }
  }

  /// What the resume data is to a record; never ``Validity/none``.
  ///
  /// What is corrupt comes before what is stale, and that before a file that is missing.
  public func validity(given facts: Facts = Facts()) -> Validity {
    if let defect = defects.first(where: \.code.isFatal) { return .corrupt(defect) }
    if let difference = difference(from: facts) { return .stale(difference) }
    switch (facts.temporaryFile, received) {
    case (.missing, _): return .temporaryFileMissing
    case (.present(let byteCount), let received?) where byteCount < received:
      return .corrupt(Defect(.shortFile, "its partial file has \(byteCount) of \(received) bytes"))
    case (.unknown, nil):
      // Nothing says how much there is.
      return .corrupt(Defect(.missingByteCount, "nothing says how many bytes have arrived"))
    case (.present, _), (.unknown, _): return .valid
    }
  }

  private func difference(from facts: Facts) -> Difference? {
    if let recordURL = facts.url, !names(recordURL) { return .url }
    // As for If-Range: a strong tag decides, or else the date (RFC 9110, 13.1.5).
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

  /// The tag without its mark of weakness (RFC 9110, 8.8.3.2: weak comparison).
  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Whether the data is of that URL, which redirects may have led away from.
  private func names(_ recordURL: String) -> Bool {
    let wanted = Self.wireForm(recordURL)
    return [url, originalRequest?.url].contains { $0.map(Self.wireForm) == wanted }
  }

  /// The URL with what may not stand in one escaped, as NSURL does when it makes one of text.
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
