/// How a query finds its objects: through an index, or by looking at every one.
enum QueryPlan: Sendable, Equatable {
  /// Every object, in the order of ids.
  case scan
  /// The entries of the index on the field at `position`, in those ranges.
  case index(position: Int, ranges: [KeyRange])

  /// Picks the index that promises the fewest candidates: one that is asked for single values
  /// before one that is asked for a range, fewer ranges before more.
  init<Root: Model>(_ predicate: Predicate<Root>, isIndexed: (Int) -> Bool) {
    let usable = predicate.hints.filter { isIndexed($0.position) }
    let best = usable.min { $0.isBetter(than: $1) }
    guard let best else {
      self = .scan
      return
    }
    self = .index(position: best.position, ranges: best.ranges)
  }
}
