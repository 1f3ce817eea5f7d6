/// The constraints that a conjunction places on each field, as index key ranges.
struct Constraints {
  /// The key ranges that remain for one part of an index, and the conjuncts they come from.
  struct FieldRanges {
    var ranges: [KeyRange]
    var arePoints: Bool
    var conjuncts: Set<Int>
    var exactConjuncts: Set<Int>
  }

  private var fields: [Int: [(conjunct: Int, keys: KeyCondition)]] = [:]
  private var elements: [Int: [(conjunct: Int, keys: [KeyCondition], isExact: Bool)]] = [:]

  init(_ conjuncts: [FilterNode]) {
    for (number, node) in conjuncts.enumerated() {
      if let (position, keys) = node.fieldKeys {
        fields[position, default: []].append((number, keys))
      } else if let (position, keys, isExact) = node.elementKeys {
        elements[position, default: []].append((number, keys, isExact))
      }
    }
  }

  /// The positions of the fields that have one value in all matches.
  var fixedPositions: Set<Int> {
    Set(fields.filter { _, all in all.contains { $0.keys.isSingleValue } }.keys)
  }

  /// Returns the key ranges that satisfy all conditions on a field.
  func fieldRanges(at position: Int, _ maximumContentSize: Int) -> FieldRanges? {
    guard let conditions = fields[position] else { return nil }
    var found: FieldRanges?
    for condition in conditions {
      let spans = condition.keys.spans(maximumContentSize: maximumContentSize)
      let own = FieldRanges(
        ranges: spans.ranges,
        arePoints: spans.arePoints,
        conjuncts: [condition.conjunct],
        exactConjuncts: spans.isExact ? [condition.conjunct] : []
      )
      guard let others = found else {
        found = own
        continue
      }
      found = FieldRanges(
        ranges: KeyRange.intersection(others.ranges, own.ranges),
        // The intersection of a point with any range is the point or empty.
        arePoints: others.arePoints || own.arePoints,
        conjuncts: others.conjuncts.union(own.conjuncts),
        exactConjuncts: others.exactConjuncts.union(own.exactConjuncts)
      )
    }
    return found
  }

  /// Returns the key ranges of the most selective condition on elements of a collection.
  ///
  /// Two conditions cannot be intersected: different elements may meet them.
  func elementRanges(at position: Int, _ maximumContentSize: Int) -> FieldRanges? {
    var best: FieldRanges?
    for condition in elements[position] ?? [] {
      let all = condition.keys.map { $0.spans(maximumContentSize: maximumContentSize) }
      guard let first = all.first else { continue }
      let ranges = all.dropFirst().reduce(first.ranges) {
        KeyRange.intersection($0, $1.ranges)
      }
      let isExact = condition.isExact && all.allSatisfy(\.isExact)
      let own = FieldRanges(
        ranges: ranges,
        arePoints: all.contains(where: \.arePoints),
        conjuncts: [condition.conjunct],
        exactConjuncts: isExact ? [condition.conjunct] : []
      )
      guard let current = best else {
        best = own
        continue
      }
      if own.arePoints != current.arePoints
        ? own.arePoints : own.ranges.count < current.ranges.count
      {
        best = own
      }
    }
    return best
  }
}

extension KeyCondition {
  /// Whether all values that meet the condition are equal.
  var isSingleValue: Bool {
    switch self {
    case .numbers(_, let words): words.count == 1 && words[0].lowerBound == words[0].upperBound
    case .values(let values, let type): values.count == 1 && type.hasUniqueEncoding
    case .null: true
    case .present, .bounds, .prefix, .oneOf: false
    }
  }
}

extension FilterNode {
  /// The key condition of a node that refers to one field only.
  var fieldKeys: (position: Int, keys: KeyCondition)? {
    switch self {
    case .field(let condition):
      return condition.keys.map { (condition.position, $0) }
    case .or(let nodes):
      var all: [KeyCondition] = []
      var position: Int?
      for node in nodes {
        guard let (own, keys) = node.fieldKeys, position ?? own == own else { return nil }
        position = own
        all.append(keys)
      }
      return position.map { ($0, .oneOf(all)) }
    case .always, .never, .elements, .semiJoin, .and, .not:
      return nil
    }
  }

  /// The key conditions that one element must all meet.
  fileprivate var elementKeys: (position: Int, keys: [KeyCondition], isExact: Bool)? {
    switch self {
    case .elements(let position, _, let condition, isEvery: false):
      var keys: [KeyCondition] = []
      var isExact = true
      for node in condition.conjuncts {
        if let (_, own) = node.fieldKeys { keys.append(own) } else { isExact = false }
      }
      return keys.isEmpty ? nil : (position, keys, isExact)
    case .or(let nodes):
      var all: [KeyCondition] = []
      var position: Int?
      var isExact = true
      for node in nodes {
        guard let (own, keys, isExactToo) = node.elementKeys, position ?? own == own,
          keys.count == 1
        else { return nil }
        position = own
        isExact = isExact && isExactToo
        all.append(keys[0])
      }
      return position.map { ($0, [.oneOf(all)], isExact) }
    default:
      return nil
    }
  }
}
