/// Decodes the members of resume data and collects their defects.
struct ResumeDataReading {
  private let dictionary: ResumeDictionary
  private(set) var defects: [URLSessionResumeData.Defect] = []

  init(_ dictionary: ResumeDictionary) {
    self.dictionary = dictionary
  }

  /// The text of a member; an empty text counts as missing.
  mutating func text(_ key: URLSessionResumeData.Key) -> String? {
    read(key) { dictionary throws(ResumeDataError) in
      let text = try dictionary.text(key)
      return text?.isEmpty == true ? nil : text
    }
  }

  mutating func integer(_ key: URLSessionResumeData.Key) -> Int64? {
    read(key) { dictionary throws(ResumeDataError) in try dictionary.integer(key) }
  }

  mutating func request(_ key: URLSessionResumeData.Key) -> URLRequestArchive? {
    let bytes = read(key) { dictionary throws(ResumeDataError) in try dictionary.data(key) }
    guard let bytes else { return nil }
    do throws(ResumeDataError) {
      let request = try URLRequestArchive(bytes, limits: dictionary.limits)
      if let method = request.method, method != "GET" {
        defects.append(.init(.notGET, "a request is not a GET, which alone can be resumed"))
      }
      return request
    } catch {
      defects.append(.init(.unreadableRequest, "\(key.rawValue): \(error)"))
      return nil
    }
  }

  private mutating func read<Value>(
    _ key: URLSessionResumeData.Key,
    _ value: (ResumeDictionary) throws(ResumeDataError) -> Value?
  ) -> Value? {
    do throws(ResumeDataError) {
      return try value(dictionary)
    } catch {
      defects.append(.init(.wrongType, "\(key.rawValue): \(error)"))
      return nil
    }
  }
}

extension URLSessionResumeData {
  /// Checks the members against each other.
  var shortcomings: [Defect] {
    var defects: [Defect] = []
    if let url {
      if !Self.isHTTP(url) {
        defects.append(.init(.unusableURL, "only http and https downloads can be resumed"))
      }
    } else {
      defects.append(.init(.missingURL, "it names no URL"))
    }
    if temporaryFileName == nil, localPath == nil {
      defects.append(.init(.missingFile, "it names no partial file"))
    } else if partialFileName == nil {
      defects.append(.init(.unsafeFileName, "its partial file lies in another folder"))
    }
    if let received {
      if received < 0 { defects.append(.init(.invalidByteCount, "it has \(received) bytes")) }
    } else {
      defects.append(.init(.missingByteCount, "it does not say how many bytes have arrived"))
    }
    if let version {
      if !Self.knownVersions.contains(version) {
        defects.append(.init(.unknownVersion, "version \(version) has not been seen yet"))
      }
    } else {
      defects.append(.init(.missingVersion, "it has no version"))
    }
    if entityTag == nil, lastModified == nil {
      defects.append(.init(.missingValidator, "nothing tells whether the file has changed since"))
    }
    if let byteRange, Self.range(byteRange) == nil {
      defects.append(.init(.invalidByteRange, "its byte range is none"))
    }
    return defects
  }

  /// The partial file's name, from the name or the path; `nil` if it is not a plain file name.
  public var partialFileName: String? {
    if let temporaryFileName {
      return Self.isPlain(temporaryFileName[...]) ? temporaryFileName : nil
    }
    guard let localPath else { return nil }
    let last = localPath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .last
    guard let last, let name = String(last), Self.isPlain(name[...]) else { return nil }
    return name
  }

  /// The known versions; version 3 has not been observed.
  private static let knownVersions: ClosedRange<Int64> = 1...4

  private static func isHTTP(_ url: String) -> Bool {
    let url = url.prefix(8).lowercased()
    return url.hasPrefix("http://") || url.hasPrefix("https://")
  }

  private static func isPlain(_ name: Substring) -> Bool {
    !name.isEmpty && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  /// The positions of the first and the last byte of a range such as `0-1023`.
  static func range(_ text: String) -> ClosedRange<Int64>? {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isASCII) && !$0.hasPrefix("+") }),
      let first = Int64(ends[0]), let last = Int64(ends[1]), first <= last
    else { return nil }
    return first...last
  }
}
