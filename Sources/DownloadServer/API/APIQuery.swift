internal import DownloadReports
internal import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// The parameters of `GET /api/v1/downloads`.
struct APIQuery: Sendable {
  /// The greatest number of downloads on a page.
  static let maximumSize = 1000

  private(set) var filter = DownloadFilter()
  private(set) var order: PageOrder?
  private(set) var isDescending = false
  private(set) var size = 100
  private(set) var after: PageToken?

  /// Parses the items of a query.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest` for an unknown name or a wrong value.
  init(_ items: [(name: String, value: String)]) throws(ServerError) {
    var seen: Set<String> = []
    for (name, value) in items {
      let isRepeatable = name == "state" || name == "tag"
      guard seen.insert(name).inserted || isRepeatable else {
        throw ServerError(.invalidRequest, "the parameter '\(name)' is given twice")
      }
      try set(name, value)
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(ServerError) {
    switch name {
    case "state", "tag", "type", "match", "host": try filter.set(name, value)
    case "sort":
      let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard let field = PageOrder(rawValue: parts[0]),
        parts.count == 1 || parts.count == 2 && ["asc", "desc"].contains(parts[1])
      else {
        throw ServerError(
          .invalidRequest,
          "'sort' takes FIELD, FIELD:asc or FIELD:desc, and the fields are: "
            + PageOrder.names.joined(separator: " ")
        )
      }
      order = field
      isDescending = parts.last == "desc"
    case "limit":
      guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value),
        (1...Self.maximumSize).contains(number)
      else {
        throw ServerError(.invalidRequest, "'limit' takes a number from 1 to \(Self.maximumSize)")
      }
      size = number
    case "after":
      guard !value.isEmpty, value.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
        throw ServerError(.invalidRequest, "'after' takes the 'next' of the previous page")
      }
      guard let token = PageToken(value) else {
        throw ServerError(.conflict, "'after' is no position in a list: begin with the first page")
      }
      after = token
    default: throw ServerError(.invalidRequest, "there is no parameter '\(name)'")
    }
  }

  /// The page that the parameters ask for.
  func page(engineRuns: Bool) -> PageRequest {
    var request = PageRequest(filter.condition(engineRuns: engineRuns))
    request.order = order
    request.isDescending = isDescending
    request.size = size
    request.after = after
    return request
  }
}

extension DownloadFilter {
  /// Sets a property by the name that options of commands have.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest` for an unknown name or a wrong value.
  mutating func set(_ name: String, _ value: String) throws(ServerError) {
    switch name {
    case "state":
      let words = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      if let word = words.first(where: { !DownloadState.words.contains($0) }) {
        throw ServerError(
          .invalidRequest,
          "'\(word)' is not a state; the states are: \(DownloadState.words.joined(separator: " "))"
        )
      }
      states += words
    case "tag":
      let words = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard !words.contains("") else {
        throw ServerError(.invalidRequest, "'tag' has an empty tag")
      }
      tags += words
    case "type": type = try Self.single(name, value, type)
    case "match": pattern = try Self.single(name, value, pattern)
    case "host": host = try Self.single(name, value, host)
    default: throw ServerError(.invalidRequest, "there is no filter '\(name)'")
    }
  }

  private static func single(
    _ name: String,
    _ value: String,
    _ previous: String?
  ) throws(ServerError) -> String {
    guard !value.isEmpty else { throw ServerError(.invalidRequest, "'\(name)' is empty") }
    guard previous == nil else {
      throw ServerError(.invalidRequest, "'\(name)' is given twice")
    }
    return value
  }
}

/// The query of a request's target.
enum QueryItems {
  /// Decodes the names and values; an item without `=` has an empty value.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest` for a value that is not UTF-8.
  static func decode(_ query: String) throws(ServerError) -> [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    for part in query.split(separator: "&") {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(words[0]), let value = words.count > 1 ? decoded(words[1]) : ""
      else {
        throw ServerError(.invalidRequest, "a parameter is not percent-encoded UTF-8")
      }
      items.append((name, value))
    }
    return items
  }

  /// Decodes percent-encoded UTF-8 in which a plus sign stands for a blank; `nil` for other bytes.
  static func decoded(_ text: some StringProtocol, plusIsBlank: Bool = true) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard rest.count >= 2,
          let high = hexadecimal(rest[rest.startIndex]),
          let low = hexadecimal(rest[rest.startIndex + 1])
        else { return nil }
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
