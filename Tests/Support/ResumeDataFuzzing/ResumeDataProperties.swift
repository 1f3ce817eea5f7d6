internal import DownloadCommands
internal import ResumeData

/// What must hold of any bytes, resume data or not.
public enum ResumeDataProperties {
  /// A property does not hold.
  public struct Violation: Error, Sendable, CustomStringConvertible {
    /// Which, and how.
    public var description: String
  }

  /// Reads bytes in every way and checks what comes of it.
  ///
  /// - Returns: In words how the bytes were taken, so that inputs that are taken differently can be
  ///   told apart.
  /// - Throws: ``Violation``.
  public static func check(_ bytes: [UInt8]) throws(Violation) -> String {
    guard
      case .success(let list) = result({ () throws(ResumeDataError) in try PropertyList(bytes) })
    else {
      guard case .corrupt = ResumeData.validity(of: bytes) else {
        // Only no bytes at all are nothing.
        try require(bytes.isEmpty, "bytes that cannot be read are not corrupt")
        return "nothing"
      }
      return failure({ () throws(ResumeDataError) in _ = try PropertyList(bytes) })
    }
    try checkWriting(list)
    var words = [PropertyListFormat(of: bytes)?.rawValue ?? "no format"]
    words.append(try checkRequest(bytes))
    switch result({ () throws(ResumeDataError) in try ResumeData(bytes) }) {
    case .success(let data): words.append(try checkResumeData(data))
    case .failure(let error): words.append("\(error.code) \(error.message)")
    }
    return words.joined(separator: "; ")
  }

  // MARK: Property lists

  /// What is read can be written, and is read again as it was.
  private static func checkWriting(_ list: PropertyList) throws(Violation) {
    for format in PropertyListFormat.allCases {
      let allowed: [ResumeDataError.Code] =
        format == .xml ? [.tooLarge, .notRepresentable] : [.tooLarge]
      let written = try value("writing \(format)", allowed) { () throws(ResumeDataError) in
        try list.encoded(as: format)
      }
      guard let written else { continue }
      // Sizes are counted a little differently by readers and writers.
      let again = try value("reading what was written", [.tooLarge]) { () throws(ResumeDataError) in
        try PropertyList(written).encoded(as: format)
      }
      try require(again == nil || again == written, "\(format) is not read as it was written")
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
      try require(respelled.spelling == spelling, "a request is not spelt as it should be")
      try require(respelled.url == request.url, "respelling changes the URL")
      try require(respelled.headers == request.headers, "respelling changes the header")
      let again = result({ () throws(ResumeDataError) in try respelled.respelled(as: spelling) })
      try require(isEqual(again, respelled), "respelling twice does more")
      guard request.spelling != spelling else { continue }
      let back = result({ () throws(ResumeDataError) in
        try respelled.respelled(as: request.spelling)
      })
      guard case .success = back else {
        throw Violation(description: "there is no way back from \(spelling)")
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

  /// Not by equality, which a number that is none would spoil.
  private static func bytes(of request: URLRequestArchive) -> [UInt8]? {
    try? request.encoded()
  }

  // MARK: Resume data

  private static let facts = [
    ResumeData.Facts(), ResumeData.Facts(url: "http://a/", temporaryFile: .missing),
    ResumeData.Facts(entityTag: "\"1\"", temporaryFile: .present(byteCount: 0)),
  ]

  private static let consumers: [ResumeData.Consumer] = [
    .identity, .iOS10, .iOS11, .version1(directory: "/d"),
  ]

  private static func checkResumeData(_ data: ResumeData) throws(Violation) -> String {
    try checkReport(data)
    for facts in facts {
      try require(data.validity(given: facts) != .none, "resume data is none")
    }
    var words = [data.form.rawValue] + data.defects.map(\.code.description)
    for consumer in consumers {
      switch result({ () throws(ResumeDataError) in try data.prepared(for: consumer) }) {
      case .failure(let error): words.append("\(error.code) \(error.message)")
      case .success(let prepared):
        try checkSame(prepared, data, "preparing")
        let again = result({ () throws(ResumeDataError) in try prepared.prepared(for: consumer) })
        guard case .success(let again) = again, again.bytes == prepared.bytes else {
          throw Violation(description: "preparing for \(consumer) twice does more")
        }
      }
    }
    for form in ResumeData.Form.allCases {
      let converted = try value("converting", [.notRepresentable, .tooLarge, .malformed]) {
        () throws(ResumeDataError) in try data.converted(to: form)
      }
      guard let converted else { continue }
      try require(converted.form == form, "the form is not what it should be")
      try require(converted.received == data.received, "converting changes the count")
      try checkSame(converted, data, "converting")
    }
    let changed = try value("changing the count", [.tooLarge]) { () throws(ResumeDataError) in
      try data.settingReceived(12_345)
    }
    if let changed {
      try require(changed.received == 12_345, "the count is not what it should be")
      try checkSame(changed, data, "changing the count")
    }
    return words.joined(separator: " ")
  }

  /// What the command line prints ends, and holds nothing that steers a terminal.
  private static func checkReport(_ data: ResumeData) throws(Violation) {
    for revealsSecrets in [false, true] {
      let report = ResumeDataReport(of: data, revealsSecrets: revealsSecrets)
      for text in [report.text, report.json] {
        let isSafe = text.unicodeScalars.allSatisfy {
          $0 == "\n" || ($0.properties.generalCategory != .control && !$0.properties.isBidiControl)
        }
        try require(!text.isEmpty && isSafe, "a report holds what steers a terminal")
      }
    }
  }

  /// What was made of resume data is read, and says the same.
  private static func checkSame(
    _ made: ResumeData,
    _ data: ResumeData,
    _ change: String
  ) throws(Violation) {
    let read = try value("reading after \(change)", [.tooLarge]) { () throws(ResumeDataError) in
      try ResumeData(made.bytes)
    }
    guard let read else { return }
    for other in [made, read] {
      try require(other.form == made.form, "\(change) makes another form")
      try require(other.received == made.received, "\(change) loses the count")
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

  /// The value, or `nil` for one of the errors that may be.
  private static func value<Value>(
    _ what: String,
    _ allowed: [ResumeDataError.Code],
    _ body: () throws(ResumeDataError) -> Value
  ) throws(Violation) -> Value? {
    switch result(body) {
    case .success(let value): return value
    case .failure(let error):
      try require(allowed.contains(error.code), "\(what) throws \(error.code): \(error)")
      return nil
    }
  }
}
