internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// An object in the body of a request, whose members are read one by one.
///
/// A member that nothing has read is unknown, and an error: a misspelt name has no silent effect.
struct JSONBody {
  private let members: [JSONValue.Member]
  private var unread: Set<String>
  /// Where the object stands in the body, for messages.
  private let place: String

  /// Creates the reader of an object.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - place: Where it stands in the body.
  ///   - expected: What follows the word object in the message, such as its members.
  /// - Throws: ``ServerError`` with `invalidRequest` if the value is not an object.
  init(
    _ value: JSONValue,
    _ place: String,
    with expected: String = ""
  ) throws(ServerError) {
    guard case .object(let members) = value else {
      throw ServerError(.invalidRequest, "\(place) is not an object\(expected)")
    }
    self.members = members
    self.place = place
    unread = Set(members.map(\.name))
  }

  /// Parses a body that is an object.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  init(_ bytes: [UInt8]) throws(ServerError) {
    let value: JSONValue
    do {
      value = try JSONParser.parse(bytes)
    } catch {
      throw ServerError(.invalidRequest, "the body is not JSON: \(error.reason) at \(error.offset)")
    }
    try self.init(value, "the body")
  }

  /// Returns a member; `nil` if it is missing or null.
  mutating func value(_ name: String) -> JSONValue? {
    unread.remove(name)
    guard let value = members.first(where: { $0.name == name })?.value, value != .null else {
      return nil
    }
    return value
  }

  /// Whether the object has a member, even if it is null.
  func has(_ name: String) -> Bool { members.contains { $0.name == name } }

  /// Returns a text; `nil` if it is missing.
  mutating func text(_ name: String) throws(ServerError) -> String? {
    guard let value = value(name) else { return nil }
    guard case .string(let text) = value else { throw wrong(name, "a string") }
    return text
  }

  /// Returns a truth value; `nil` if it is missing.
  mutating func flag(_ name: String) throws(ServerError) -> Bool? {
    guard let value = value(name) else { return nil }
    guard case .bool(let flag) = value else { throw wrong(name, "true or false") }
    return flag
  }

  /// Returns a whole number; `nil` if it is missing.
  mutating func number<Number: FixedWidthInteger>(_ name: String) throws(ServerError) -> Number? {
    guard let value = value(name) else { return nil }
    guard case .number(let digits) = value, let number = Number(digits) else {
      throw wrong(name, "a whole number from \(Number.min) to \(Number.max)")
    }
    return number
  }

  /// Returns texts; empty if they are missing.
  mutating func texts(_ name: String) throws(ServerError) -> [String] {
    guard let value = value(name) else { return [] }
    guard case .array(let values) = value else { throw wrong(name, "an array of strings") }
    var texts: [String] = []
    for value in values {
      guard case .string(let text) = value else { throw wrong(name, "an array of strings") }
      texts.append(text)
    }
    return texts
  }

  /// Returns a time; `nil` if it is missing.
  mutating func time(_ name: String) throws(ServerError) -> Date? {
    guard let text = try text(name) else { return nil }
    for fraction in [true, false] {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: fraction)
      if let date = try? Date(text, strategy: style) { return date }
    }
    throw wrong(name, "a time such as 2026-01-31T08:00:00Z")
  }

  /// Refuses an object with members that were not read.
  ///
  /// - Throws: ``ServerError`` with `invalidRequest`.
  func end() throws(ServerError) {
    guard let name = unread.min() else { return }
    throw ServerError(.invalidRequest, "\(place) has an unknown member '\(name)'")
  }

  private func wrong(_ name: String, _ expected: String) -> ServerError {
    ServerError(.invalidRequest, "'\(name)' of \(place) is not \(expected)")
  }
}
