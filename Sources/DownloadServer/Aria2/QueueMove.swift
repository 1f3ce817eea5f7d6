/// Moves a download to a position of the queue by priorities, the only order that users can give.
///
/// Pure: gets the queue, and returns the priorities to store.
struct QueueMove: Sendable, Hashable {
  /// A waiting download.
  struct Entry: Sendable, Hashable {
    var url: String
    var priority: Int32
  }

  /// The new priorities by URL: of the moved download, and of those before it if they must be raised.
  var priorities: [Entry]
  /// The position of the moved download after the change.
  var position: Int

  /// Decides about a move; `nil` if no priorities are left for it.
  ///
  /// Without a free priority between its neighbours, all downloads before the position are raised by the
  /// same amount, which keeps their order.
  ///
  /// - Parameters:
  ///   - moved: The download.
  ///   - queue: The downloads in starting order.
  ///   - target: The position, clamped to the queue.
  init?(of moved: Entry, in queue: [Entry], to target: Int) {
    let index = queue.firstIndex { $0.url == moved.url }
    var others = queue
    if let index { others.remove(at: index) }
    position = min(max(target, 0), others.count)
    priorities = []
    guard position != index else { return }
    let before = position > 0 ? others[position - 1].priority : nil
    let after = position < others.count ? others[position].priority : nil
    let limits = (low: Int64(Int32.min), high: Int64(Int32.max))
    var priority = Int64(moved.priority)
    switch (before.map(Int64.init), after.map(Int64.init)) {
    case (nil, nil): return
    case (nil, let after?): priority = after + 1
    case (let before?, nil): priority = before - 1
    case (let before?, let after?):
      priority = after + 1
      let raise = after + 2 - before
      guard raise > 0 else { break }
      guard Int64(others[0].priority) + raise <= limits.high else { return nil }
      priorities = others[..<position].map {
        Entry(url: $0.url, priority: Int32(Int64($0.priority) + raise))
      }
    }
    guard (limits.low...limits.high).contains(priority) else { return nil }
    priorities.append(Entry(url: moved.url, priority: Int32(priority)))
  }
}
