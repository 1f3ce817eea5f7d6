/// One way through one index.
struct AccessPath: Sendable, Hashable {
  /// The number of the index.
  var index: Int
  /// The ranges of keys, in order and apart from each other: every match has an entry in one.
  var ranges: [KeyRange]
  /// So many parts of the index, from the first on, have one of some values.
  var equalParts: Int
  /// So many parts of the index, from the first on, have one value.
  var fixedParts: Int
  /// Whether the part after the equal ones is in a range.
  var hasRange: Bool
  /// Which of the predicate's conjuncts the ranges come from.
  var conjuncts: Set<Int>
  /// Those of them that all objects with an entry in the ranges meet.
  var exactConjuncts: Set<Int>
  /// Whether an object can have several entries in the ranges.
  var mayRepeat: Bool
  /// Whether at most one object is found.
  var isSingle: Bool

  /// Whether fewer candidates are to be expected than from the other.
  func isBetter(than other: AccessPath) -> Bool {
    if isSingle != other.isSingle { return isSingle }
    if equalParts != other.equalParts { return equalParts > other.equalParts }
    if hasRange != other.hasRange { return hasRange }
    if ranges.count != other.ranges.count { return ranges.count < other.ranges.count }
    return index < other.index
  }
}

/// How the candidates of a query are found.
enum Access: Sendable, Hashable {
  /// There are none.
  case nothing
  /// Every object, in the order of ids.
  case scan
  /// The objects of those primary keys, each given as it is stored.
  case keys([[UInt8]])
  /// The entries of an index one after another, in the order of the query or against it.
  case walk(AccessPath, isReversed: Bool)
  /// The objects of one of the paths: of that which ends first.
  case shortest([AccessPath])
  /// The objects of all of the paths.
  case union([AccessPath])
}

/// An access, and what it leaves to do.
struct AccessPlan: Sendable, Hashable {
  var access: Access
  /// Whether candidates need no test.
  var isExact: Bool
  /// Whether candidates come in the order of the query.
  var isOrdered: Bool
}
