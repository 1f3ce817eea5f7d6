internal import ObjectStore

/// The positional parameters of a call, without its token.
struct Aria2Parameters: Sendable {
  private let values: [JSONValue]

  init(_ values: [JSONValue]) {
    self.values = values
  }

  /// Removes the token if the first parameter is one.
  ///
  /// - Returns: The token; `nil` without one.
  mutating func takeToken() -> String? {
    guard case .string(let text)? = values.first, text.hasPrefix("token:") else { return nil }
    self = Self(Array(values.dropFirst()))
    return String(text.dropFirst("token:".count))
  }

  /// Returns a required string.
  ///
  /// - Throws: ``Aria2Error``.
  func string(_ index: Int) throws(Aria2Error) -> String {
    guard case .string(let text) = try value(index) else { throw Self.wrongType(index) }
    return text
  }

  /// Returns a required integer.
  ///
  /// - Throws: ``Aria2Error``.
  func integer(_ index: Int) throws(Aria2Error) -> Int {
    guard case .number(let digits) = try value(index), let number = Int(digits) else {
      throw Self.wrongType(index)
    }
    return number
  }

  /// Returns a required position in a queue, or the distance from one.
  ///
  /// One beyond the longest queue has the same effect as its end, so that it can be added to another.
  ///
  /// - Throws: ``Aria2Error``.
  func position(_ index: Int) throws(Aria2Error) -> Int {
    let longest = Aria2Service.longestQueue
    return min(max(try integer(index), -longest), longest)
  }

  /// Returns a position in the queue that may be missing.
  ///
  /// - Throws: ``Aria2Error``.
  func optionalPosition(_ index: Int) throws(Aria2Error) -> Int? {
    guard !isMissing(index) else { return nil }
    let position = try position(index)
    guard position >= 0 else {
      throw Aria2Error("Position must be greater than or equal to 0.")
    }
    return position
  }

  /// Returns the strings of a required list; other elements are ignored, as in aria2.
  ///
  /// - Throws: ``Aria2Error``.
  func strings(_ index: Int) throws(Aria2Error) -> [String] {
    try list(index).compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// Returns the names of the members that the caller wants; `nil` for all.
  ///
  /// - Throws: ``Aria2Error``.
  func keys(_ index: Int) throws(Aria2Error) -> Set<String>? {
    guard !isMissing(index) else { return nil }
    let keys = Set(try strings(index))
    return keys.isEmpty ? nil : keys
  }

  /// Returns a required list.
  ///
  /// - Throws: ``Aria2Error``.
  func list(_ index: Int) throws(Aria2Error) -> [JSONValue] {
    guard case .array(let elements) = try value(index) else { throw Self.wrongType(index) }
    return elements
  }

  /// Returns the members of an object that may be missing.
  ///
  /// - Throws: ``Aria2Error``.
  func optionalObject(_ index: Int) throws(Aria2Error) -> [JSONValue.Member] {
    isMissing(index) ? [] : try object(index)
  }

  /// Returns the members of a required object.
  ///
  /// - Throws: ``Aria2Error``.
  func object(_ index: Int) throws(Aria2Error) -> [JSONValue.Member] {
    guard case .object(let members) = try value(index) else { throw Self.wrongType(index) }
    return members
  }

  private func isMissing(_ index: Int) -> Bool {
    !values.indices.contains(index) || values[index] == .null
  }

  private func value(_ index: Int) throws(Aria2Error) -> JSONValue {
    guard values.indices.contains(index) else {
      throw Aria2Error("The parameter at \(index) is required but missing.")
    }
    return values[index]
  }

  private static func wrongType(_ index: Int) -> Aria2Error {
    Aria2Error("The parameter at \(index) has wrong type.")
  }
}
