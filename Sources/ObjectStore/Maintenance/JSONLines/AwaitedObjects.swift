/// What the lines of an import that wait to be written refer to, and is not there yet.
struct AwaitedObjects {
  /// What a reference names.
  struct Key: Hashable {
    var model: String
    /// The bytes of the primary key.
    var bytes: [UInt8]
  }

  /// What the lines bring.
  private var brought: Set<Key> = []
  private var awaited: Set<Key> = []

  /// Whether nothing that the lines refer to is missing.
  var isEmpty: Bool { awaited.isEmpty }

  /// Takes a line that brings an object, and refers to others.
  ///
  /// `isStored` is asked for those that no line brings, by their places in the list.
  mutating func add(
    _ object: Key,
    references: [Key],
    isStored: (Int) throws -> Bool
  ) rethrows {
    brought.insert(object)
    awaited.remove(object)
    for (place, key) in references.enumerated()
    where !brought.contains(key) && !awaited.contains(key) {
      if try !isStored(place) { awaited.insert(key) }
    }
  }

  mutating func removeAll() {
    self = AwaitedObjects()
  }
}
