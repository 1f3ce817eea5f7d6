/// The names below a folder during the replay of a recording: the durable names, and the changes
/// since.
struct RecordedNames: Sendable {
  /// The target of a name.
  enum Node: Sendable, Hashable {
    case file(Int)
    case folder
  }

  private struct Change: Sendable {
    var number: Int
    /// The targets of the names after the change; `nil` for a removed name.
    var nodes: [String: Node?]
  }

  /// The names that processes see.
  private(set) var current: [String: Node] = [:]
  private var durable: [String: Node] = [:]
  private var changes: [Change] = []
  /// The number of changes so far, including durable ones.
  private(set) var changeCount = 0

  /// Adds a change, which becomes durable as a whole or not at all.
  mutating func append(_ nodes: [String: Node?]) {
    for (path, node) in nodes { current[path] = node }
    changes.append(Change(number: changeCount, nodes: nodes))
    changeCount += 1
  }

  /// Makes selected changes with a number below `count` durable, with earlier changes of the same
  /// names and with the folders that contain them.
  mutating func settle(
    changesBefore count: Int = .max,
    _ isMeant: ([String: Node?]) -> Bool
  ) {
    var settled = Set(
      changes.indices.filter { changes[$0].number < count && isMeant(changes[$0].nodes) }
    )
    var paths = Set(settled.flatMap { changes[$0].nodes.keys })
    while true {
      for path in paths { paths.formUnion(Self.ancestors(of: path)) }
      let needed = changes.indices.filter { index in
        !settled.contains(index)
          && changes[index].nodes.contains { path, node in
            paths.contains(path)
              && (node == .folder
                || settled.contains { $0 > index && changes[$0].nodes[path] != nil })
          }
      }
      if needed.isEmpty { break }
      settled.formUnion(needed)
      paths.formUnion(needed.flatMap { changes[$0].nodes.keys })
    }
    for index in settled.sorted() { Self.apply(changes[index], to: &durable) }
    changes = changes.indices.filter { !settled.contains($0) }.map { changes[$0] }
  }

  /// Returns the names that a power cut leaves.
  func cut(
    _ loss: PowerLoss,
    using random: inout some RandomNumberGenerator
  ) -> [String: Node] {
    var left = durable
    for change in changes.prefix(loss.kept(of: changes.count, using: &random)) {
      Self.apply(change, to: &left)
    }
    return left
  }

  private static func apply(_ change: Change, to names: inout [String: Node]) {
    for (path, node) in change.nodes { names[path] = node }
  }

  /// Returns the folder that contains a name.
  static func parent(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  private static func ancestors(of path: String) -> [String] {
    var ancestors: [String] = []
    var path = parent(of: path)
    while !path.isEmpty {
      ancestors.append(path)
      path = parent(of: path)
    }
    return ancestors
  }
}
