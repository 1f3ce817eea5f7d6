internal import DownloadReports
internal import DownloadStore

/// A key of `list --watch`.
enum WatchKey: Sendable, Hashable, CaseIterable {
  case up, down, pageUp, pageDown, first, last, pause, resume, retry, sort, filter, keys, quit

  /// Finds the keys in what a terminal sent; others are ignored.
  static func keys(in bytes: [UInt8]) -> [WatchKey] {
    var keys: [WatchKey] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case 0x1B:
        // An arrow is ESC [ A or ESC O A.
        guard let second = rest.first, second == UInt8(ascii: "[") || second == UInt8(ascii: "O")
        else { continue }
        rest.removeFirst()
        // Parameters precede the letter that ends a sequence.
        let parameters = rest.prefix { !(0x40...0x7E).contains($0) }
        rest.removeFirst(parameters.count)
        guard let last = rest.popFirst() else { continue }
        if let key = key(ending: last, parameters) { keys.append(key) }
      case UInt8(ascii: "k"): keys.append(.up)
      case UInt8(ascii: "j"): keys.append(.down)
      case UInt8(ascii: "g"): keys.append(.first)
      case UInt8(ascii: "G"): keys.append(.last)
      case UInt8(ascii: "p"): keys.append(.pause)
      case UInt8(ascii: "r"): keys.append(.resume)
      case UInt8(ascii: "t"): keys.append(.retry)
      case UInt8(ascii: "s"): keys.append(.sort)
      case UInt8(ascii: "f"): keys.append(.filter)
      case UInt8(ascii: "?"): keys.append(.keys)
      case UInt8(ascii: "q"): keys.append(.quit)
      default: break
      }
    }
    return keys
  }

  /// Returns the key of an escape sequence; `nil` for another one.
  private static func key(ending last: UInt8, _ parameters: ArraySlice<UInt8>) -> WatchKey? {
    switch (last, parameters.first) {
    case (UInt8(ascii: "A"), _): .up
    case (UInt8(ascii: "B"), _): .down
    case (UInt8(ascii: "H"), _): .first
    case (UInt8(ascii: "F"), _): .last
    case (UInt8(ascii: "~"), UInt8(ascii: "1")?) where parameters.count == 1: .first
    case (UInt8(ascii: "~"), UInt8(ascii: "7")?) where parameters.count == 1: .first
    case (UInt8(ascii: "~"), UInt8(ascii: "4")?) where parameters.count == 1: .last
    case (UInt8(ascii: "~"), UInt8(ascii: "8")?) where parameters.count == 1: .last
    case (UInt8(ascii: "~"), UInt8(ascii: "5")?): .pageUp
    case (UInt8(ascii: "~"), UInt8(ascii: "6")?): .pageDown
    default: nil
    }
  }
}

/// What the user has chosen in `list --watch`: the order, the filter, and the selected download.
///
/// Pure.
struct WatchView: Sendable, Equatable {
  /// The order of the downloads.
  enum Order: String, Sendable, CaseIterable {
    case state, name, size, newest

    /// The order of the list; `nil` for that of the states.
    var listOrder: ListOrder? {
      switch self {
      case .state: nil
      case .name: ListOrder("filename")
      case .size: ListOrder("expected:desc")
      case .newest: ListOrder("createdAt:desc")
      }
    }
  }

  /// The states of the downloads that are shown.
  enum Filter: String, Sendable, CaseIterable {
    case all, active, failed, completed

    /// The states; `nil` for all.
    var states: [DownloadState]? {
      switch self {
      case .all: nil
      case .active: [.running, .finalizing, .failedRetryable, .waiting]
      case .failed: [.failedPermanent, .failedRetryable]
      case .completed: [.completed]
      }
    }
  }

  /// What a key asks for.
  enum Action: Sendable, Equatable {
    case quit
    /// The list has another order or another filter.
    case read
    /// A command to the selected download.
    case command(DownloadCommand, id: String)
    /// Resume all failed downloads of the list.
    case retry
  }

  var order = Order.state
  var filter = Filter.all
  /// The id of the selected download; the first one is selected if this one is not shown.
  var selected: String?
  /// Whether all keys are shown in place of the list.
  var showsKeys = false

  /// The groups of states in the order of ``Order/state``.
  ///
  /// - Parameter engineRuns: Whether an engine runs. Without one, nothing is running.
  /// - Returns: The groups.
  static func groups(engineRuns: Bool) -> [[DownloadState]] {
    let waiting: [DownloadState] = engineRuns ? [.waiting] : [.waiting, .running]
    let running: [DownloadState] = engineRuns ? [.running, .finalizing] : [.finalizing]
    return [
      running, [.failedRetryable], [.failedPermanent], waiting, [.paused], [.completed],
      [.cancelled],
    ]
  }

  /// Returns the position of the selected download in the list.
  func position(in ids: [String]) -> Int { selected.flatMap(ids.firstIndex) ?? 0 }

  /// Applies a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - ids: The ids of the downloads in the list.
  ///   - page: The number of downloads on the screen.
  /// - Returns: What to do; `nil` if only the selection or the keys on the screen have changed.
  mutating func press(_ key: WatchKey, _ ids: [String], page: Int = 10) -> Action? {
    let position = position(in: ids)
    showsKeys = key == .keys && !showsKeys
    switch key {
    case .keys: break
    case .up: select(position - 1, ids)
    case .down: select(position + 1, ids)
    case .pageUp: select(position - page, ids)
    case .pageDown: select(position + page, ids)
    case .first: select(0, ids)
    case .last: select(ids.count - 1, ids)
    case .pause, .resume:
      guard ids.indices.contains(position) else { return nil }
      selected = ids[position]
      let command = key == .pause ? DownloadCommand.pause : .resume(immediately: false)
      return .command(command, id: ids[position])
    case .retry: return .retry
    case .sort:
      order = Self.next(after: order)
      return .read
    case .filter:
      filter = Self.next(after: filter)
      return .read
    case .quit: return .quit
    }
    return nil
  }

  /// Selects the download at a position, or the nearest one.
  private mutating func select(_ position: Int, _ ids: [String]) {
    guard !ids.isEmpty else { return }
    selected = ids[max(0, min(ids.count - 1, position))]
  }

  private static func next<Value: CaseIterable & Equatable>(after value: Value) -> Value {
    let all = Array(Value.allCases)
    let index = all.firstIndex(of: value) ?? 0
    return all[(index + 1) % all.count]
  }
}
