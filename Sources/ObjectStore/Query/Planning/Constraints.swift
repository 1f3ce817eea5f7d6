/// What a conjunction says of each field in the terms of indexes.
struct Constraints {
  /// The keys of one part of an index that are left, and by which conjuncts.
  struct Found {
    var ranges: [KeyRange]
    var arePoints: Bool
    var conjuncts: Set<Int>
    var exactConjuncts: Set<Int>
  }

  private var fields: [Int: [(conjunct: Int, keys: KeyCondition)]] = [:]
  private var elements: [Int: [(conjunct: Int, keys: [KeyCondition], isExact: Bool)]] = [:]

  init(_ conjuncts: [PredicateNode]) {
    for (number, node) in conjuncts.enumerated() {
      if let (position, keys) = node.fieldKeys {
        fields[position, default: []].append((number, keys))
      } else if let (position, keys, isExact) = node.elementKeys {
        elements[position, default: []].append((number, keys, isExact))
      }
    }
  }

  /// The positions of fields that have one value in all matches.
  var fixedPositions: Set<Int> {
    Set(fields.filter { _, all in all.contains { $0.keys.isOneValue } }.keys)
  }

  /// The keys that all conditions on a field leave.
  func ofField(at position: Int, _ longestContent: Int) -> Found? {
    guard let conditions = fields[position] else { return nil }
    var found: Found?
    for condition in conditions {
      let spans = condition.keys.spans(longestContent: longestContent)
      let own = Found(
        ranges: spans.ranges,
        arePoints: spans.arePoints,
        conjuncts: [condition.conjunct],
        exactConjuncts: spans.isExact ? [condition.conjunct] : []
      )
      guard let others = found else {
        found = own
        continue
      }
      found = Found(
        ranges: KeyRange.intersection(others.ranges, own.ranges),
        // What is left of a point is the point or nothing.
        arePoints: others.arePoints || own.arePoints,
        conjuncts: others.conjuncts.union(own.conjuncts),
        exactConjuncts: others.exactConjuncts.union(own.exactConjuncts)
      )
    }
    return found
  }

  /// The keys that the best condition on an element of a collection leaves: two conditions may be
  /// met by two elements.
  func ofOneElement(at position: Int, _ longestContent: Int) -> Found? {
    var best: Found?
    for condition in elements[position] ?? [] {
      let all = condition.keys.map { $0.spans(longestContent: longestContent) }
      guard let first = all.first else { continue }
      let ranges = all.dropFirst().reduce(first.ranges) {
        KeyRange.intersection($0, $1.ranges)
      }
      let isExact = condition.isExact && all.allSatisfy(\.isExact)
      let own = Found(
        ranges: ranges,
        arePoints: all.contains(where: \.arePoints),
        conjuncts: [condition.conjunct],
        exactConjuncts: isExact ? [condition.conjunct] : []
      )
      guard let rival = best else {
        best = own
        continue
      }
      if own.arePoints != rival.arePoints ? own.arePoints : own.ranges.count < rival.ranges.count {
        best = own
      }
    }
    return best
  }
}

extension KeyCondition {
  /// Whether all that meet the condition have the same value.
  var isOneValue: Bool {
    switch self {
    case .numbers(_, let words): words.count == 1 && words[0].lowerBound == words[0].upperBound
    case .values(let values, let type): values.count == 1 && type.hasOneEncoding
    case .null: true
    case .present, .bounds, .prefix, .oneOf: false
    }
  }
}

extension PredicateNode {
  /// The keys of a condition that speaks of one field alone.
  fileprivate var fieldKeys: (position: Int, keys: KeyCondition)? {
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

  /// The keys that one element must have, all of them.
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
