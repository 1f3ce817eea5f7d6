/// How to get from one order of ids to another.
struct ResultDifference: Equatable {
  /// Places in the old order, ascending.
  var deletions: [Int] = []
  /// Places in the new order, ascending.
  var insertions: [Int] = []
  /// What stays: places in the old and in the new order, both ascending.
  var kept: [(old: Int, new: Int)] = []

  /// The fewest deletions and insertions.
  ///
  /// - Complexity: O(n log n) in the lengths of both.
  init(from old: [UInt64], to new: [UInt64]) {
    let places = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
    let common = new.enumerated().compactMap { place, id in
      places[id].map { (old: $0, new: place) }
    }
    kept = Self.longestAscending(common)
    deletions = Self.gaps(kept.map(\.old), count: old.count)
    insertions = Self.gaps(kept.map(\.new), count: new.count)
  }

  /// The longest part in which the old places ascend as the new ones do: what need not move.
  private static func longestAscending(
    _ pairs: [(old: Int, new: Int)]
  ) -> [(old: Int, new: Int)] {
    // The last element of the best part of each length so far, and what comes before each element.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: pairs.count)
    for index in pairs.indices {
      let length = ends.partitionPoint { pairs[$0].old >= pairs[index].old }
      if length > 0 { previous[index] = ends[length - 1] }
      if length == ends.count { ends.append(index) } else { ends[length] = index }
    }
    var result: [(old: Int, new: Int)] = []
    var index = ends.last ?? -1
    while index >= 0 {
      result.append(pairs[index])
      index = previous[index]
    }
    return result.reversed()
  }

  private static func gaps(_ places: [Int], count: Int) -> [Int] {
    var gaps: [Int] = []
    var next = 0
    for place in places + [count] {
      gaps += next..<place
      next = place + 1
    }
    return gaps
  }

  static func == (left: Self, right: Self) -> Bool {
    left.deletions == right.deletions && left.insertions == right.insertions
      && left.kept.elementsEqual(right.kept) { $0 == $1 }
  }
}
