internal import DownloadCommands
internal import DownloadReports
internal import ResumeData

/// Properties that must hold for any bytes, whether or not they are resume data.
public enum ResumeDataProperties {
  /// A violated property.
  public struct Violation: Error, Sendable, CustomStringConvertible {
    /// The property and its violation.
    public var description: String
  }

  /// Reads, writes, repairs and converts bytes, and checks the results.
  ///
  /// - Returns: A description of the outcome, which distinguishes inputs that are handled
  ///   differently.
  /// - Throws: ``Violation``.
  public static func check(_ bytes: [UInt8]) throws(Violation) -> String {
    guard
      case .success(let list) = result({ () throws(ResumeDataError) in try PropertyList(bytes) })
    else {
      guard case .corrupt = URLSessionResumeData.validity(of: bytes) else {
        // Only an empty input has validity `none`.
        try require(bytes.isEmpty, "bytes that cannot be read are not corrupt")
        return "empty"
      }
      return failure({ () throws(ResumeDataError) in _ = try PropertyList(bytes) })
    }
    try checkWriting(list)
    var words = [PropertyListFormat(of: bytes)?.rawValue ?? "no format"]
    words.append(try checkRequest(bytes))
    switch result({ () throws(ResumeDataError) in try URLSessionResumeData(bytes) }) {
    case .success(let data): words.append(try checkResumeData(data))
    case .failure(let error): words.append("\(error.code) \(error.message)")
    }
    return words.joined(separator: "; ")
  }

  // MARK: Property lists

  /// Checks that the list can be written, and that reading and writing it again gives the same
  /// bytes.
  private static func checkWriting(_ list: PropertyList) throws(Violation) {
    for format in PropertyListFormat.allCases {
      let allowed: [ResumeDataError.Code] =
        format == .xml ? [.tooLarge, .notRepresentable] : [.tooLarge]
      let written = try value("writing \(format)", allowed) { () throws(ResumeDataError) in
        try list.encoded(as: format)
      }
      guard let written else { continue }
      // Readers and writers count sizes slightly differently, so `tooLarge` is allowed.
      let again = try value("reading written data", [.tooLarge]) { () throws(ResumeDataError) in
        try PropertyList(written).encoded(as: format)
      }
      try require(again == nil || again == written, "\(format) does not round-trip")
    }
  }

  // MARK: Requests

  private static func checkRequest(_ bytes: [UInt8]) throws(Violation) -> String {
    let request: URLRequestArchive
    switch result({ () throws(ResumeDataError) in try URLRequestArchive(bytes) }) {
    case .success(let value): request = value
    case .failure(let error): return "\(error.code) \(error.message)"
    }
    var words = ["request \(request.spelling)"]
    for spelling in URLRequestArchive.Spelling.allCases {
      let respelled = try value("respelling", [.notRepairable]) { () throws(ResumeDataError) in
        try request.respelled(as: spelling)
      }
      guard let respelled else {
        words.append("not \(spelling)")
        continue
      }
      try require(respelled.spelling == spelling, "a respelled request has the wrong spelling")
      try require(respelled.url == request.url, "respelling changes the URL")
      try require(respelled.headers == request.headers, "respelling changes the header")
      let again = result({ () throws(ResumeDataError) in try respelled.respelled(as: spelling) })
      try require(isEqual(again, respelled), "respelling is not idempotent")
      guard request.spelling != spelling else { continue }
      let restored = result({ () throws(ResumeDataError) in
        try respelled.respelled(as: request.spelling)
      })
      guard case .success = restored else {
        throw Violation(
          description: "a request in the \(spelling) spelling cannot be respelled back"
        )
      }
    }
    return words.joined(separator: " ")
  }

  private static func isEqual(
    _ result: Result<URLRequestArchive, ResumeDataError>,
    _ request: URLRequestArchive
  ) -> Bool {
    guard case .success(let other) = result else { return false }
    return bytes(of: other) == bytes(of: request)
  }

  /// Returns the encoded request, for a comparison by bytes: NaN is not equal to itself.
  private static func bytes(of request: URLRequestArchive) -> [UInt8]? {
    try? request.encoded()
  }

  // MARK: Resume data

  private static let facts = [
    URLSessionResumeData.Facts(),
    URLSessionResumeData.Facts(url: "http://a/", temporaryFile: .missing),
    URLSessionResumeData.Facts(entityTag: "\"1\"", temporaryFile: .present(byteCount: 0)),
  ]

  private static let consumers: [URLSessionResumeData.Consumer] = [
    .identity, .iOS10, .iOS11, .version1(directory: "/d"),
  ]

  private static func checkResumeData(_ data: URLSessionResumeData) throws(Violation) -> String {
    try checkReport(data)
    for facts in facts {
      try require(data.validity(given: facts) != .none, "resume data has validity none")
    }
    var words = [data.form.rawValue] + data.defects.map(\.code.description)
    for consumer in consumers {
      switch result({ () throws(ResumeDataError) in try data.prepared(for: consumer) }) {
      case .failure(let error): words.append("\(error.code) \(error.message)")
      case .success(let prepared):
        try checkSame(prepared, data, "preparing")
        let again = result({ () throws(ResumeDataError) in try prepared.prepared(for: consumer) })
        guard case .success(let again) = again, again.bytes == prepared.bytes else {
          throw Violation(description: "preparing for \(consumer) is not idempotent")
        }
      }
    }
    for form in URLSessionResumeData.Form.allCases {
      let converted = try value("converting", [.notRepresentable, .tooLarge, .malformed]) {
        () throws(ResumeDataError) in try data.converted(to: form)
      }
      guard let converted else { continue }
      try require(converted.form == form, "converting results in the wrong form")
      try require(converted.received == data.received, "converting changes the byte count")
      try checkSame(converted, data, "converting")
    }
    let changed = try value("changing the byte count", [.tooLarge]) { () throws(ResumeDataError) in
      try data.settingReceived(12_345)
    }
    if let changed {
      try require(changed.received == 12_345, "changing the byte count sets the wrong count")
      try checkSame(changed, data, "changing the byte count")
    }
    return words.joined(separator: " ")
  }

  /// Checks that reports of the command line contain no control characters of terminals.
  private static func checkReport(_ data: URLSessionResumeData) throws(Violation) {
    for revealsSecrets in [false, true] {
      let report = ResumeDataReport(of: data, revealsSecrets: revealsSecrets)
      for text in [report.text, report.json] {
        let isSafe = text.unicodeScalars.allSatisfy {
          $0 == "\n" || ($0.properties.generalCategory != .control && !$0.properties.isBidiControl)
        }
        try require(!text.isEmpty && isSafe, "a report is empty or contains control characters")
      }
    }
  }

  /// Checks that derived resume data can be read and has the same properties.
  private static func checkSame(
    _ derived: URLSessionResumeData,
    _ data: URLSessionResumeData,
    _ change: String
  ) throws(Violation) {
    let read = try value("reading after \(change)", [.tooLarge]) { () throws(ResumeDataError) in
      try URLSessionResumeData(derived.bytes)
    }
    guard let read else { return }
    for other in [derived, read] {
      try require(other.form == derived.form, "\(change) changes the form")
      try require(other.received == derived.received, "\(change) loses the byte count")
      try require(other.url == data.url, "\(change) changes the URL")
      try require(other.entityTag == data.entityTag, "\(change) changes the entity tag")
      try require(other.lastModified == data.lastModified, "\(change) changes the date")
      try require(other.partialFileName == data.partialFileName, "\(change) changes the file")
    }
  }

  // MARK: Results

  private static func require(_ condition: Bool, _ message: String) throws(Violation) {
    guard condition else { throw Violation(description: message) }
  }

  private static func result<Value>(
    _ body: () throws(ResumeDataError) -> Value
  ) -> Result<Value, ResumeDataError> {
    do throws(ResumeDataError) {
      return .success(try body())
    } catch {
      return .failure(error)
    }
  }

  private static func failure(_ body: () throws(ResumeDataError) -> Void) -> String {
    guard case .failure(let error) = result(body) else { return "" }
    return "\(error.code) \(error.message)"
  }

  /// Returns the value, or `nil` if `body` throws one of the allowed errors.
  private static func value<Value>(
    _ operation: String,
    _ allowed: [ResumeDataError.Code],
    _ body: () throws(ResumeDataError) -> Value
  ) throws(Violation) -> Value? {
    switch result(body) {
    case .success(let value): return value
    case .failure(let error):
      try require(allowed.contains(error.code), "\(operation) throws \(error.code): \(error)")
      return nil
    }
  }
}
