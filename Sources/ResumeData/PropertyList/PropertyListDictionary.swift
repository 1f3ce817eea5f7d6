/// The members of a property list's dictionary, in the order in which they were written.
///
/// The order has no meaning, and equality ignores it; it is kept so that a change of one member
/// leaves the others where they were.
package struct PropertyListDictionary: Sendable {
  /// A member.
  package struct Entry: Sendable, Equatable {
    /// The name.
    package var key: String
    /// The value.
    package var value: PropertyList
  }

  /// The members in their order.
  package private(set) var entries: [Entry] = []
  private var positions: [String: Int] = [:]

  /// Makes one without members.
  package init() {}

  /// The member of that name; `nil` removes it.
  ///
  /// A new one comes last.
  ///
  /// - Complexity: O(1), and O(*n*) to remove one.
  package subscript(key: String) -> PropertyList? {
    get { positions[key].map { entries[$0].value } }
    set {
      switch (positions[key], newValue) {
      case (let position?, let value?): entries[position].value = value
      case (let position?, nil):
        entries.remove(at: position)
        positions[key] = nil
        for later in position..<entries.count { positions[entries[later].key] = later }
      case (nil, let value?): append(value, for: key)
      case (nil, nil): break
      }
    }
  }

  /// Adds a member unless one has the name.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  package mutating func append(_ value: PropertyList, for key: String) -> Bool {
    guard positions[key] == nil else { return false }
    positions[key] = entries.count
    entries.append(Entry(key: key, value: value))
    return true
  }

  /// Gives the member named `key` another name, at its place.
  ///
  /// - Returns: Whether it was done: not when there is no such member, nor when the new name is
  ///   taken.
  @discardableResult
  package mutating func rename(_ key: String, to newKey: String) -> Bool {
    guard let position = positions[key], positions[newKey] == nil else { return false }
    positions[key] = nil
    positions[newKey] = position
    entries[position].key = newKey
    return true
  }
}

extension PropertyListDictionary: Equatable {
  /// Whether both have the same members, in whatever order.
  package static func == (left: Self, right: Self) -> Bool {
    left.entries.count == right.entries.count
      && left.entries.allSatisfy { right[$0.key] == $0.value }
  }
}

extension PropertyListDictionary: ExpressibleByDictionaryLiteral {
  /// Makes one with those members, whose names must differ.
  package init(dictionaryLiteral elements: (String, PropertyList)...) {
    for (key, value) in elements {
      let isNew = append(value, for: key)
      precondition(isNew, "two members of a property list have the name \(key)")
    }
  }
}
