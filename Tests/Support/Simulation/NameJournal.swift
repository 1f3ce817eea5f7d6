/// The names in a folder: the durable names, and the changes since.
struct NameJournal: Sendable {
  /// A name that was created or removed.
  struct Change: Sendable {
    var path: String
    /// The file; `nil` if the name was removed.
    var inode: UInt64?
  }

  /// The durable names.
  private(set) var lasting: [String: UInt64] = [:]
  /// The changes since, in order.
  private(set) var changes: [Change] = []

  /// Returns the file that currently has the name.
  func inode(named path: String) -> UInt64? {
    if let change = changes.last(where: { $0.path == path }) { return change.inode }
    return lasting[path]
  }

  /// The current names.
  var current: [String] {
    Set(lasting.keys).union(changes.map(\.path)).filter { inode(named: $0) != nil }.sorted()
  }

  /// Returns the file that the name refers to after any power cut; `nil` if that may be none or
  /// another one.
  func promised(_ path: String) -> UInt64? {
    guard let inode = lasting[path],
      !changes.contains(where: { $0.path == path && $0.inode != inode })
    else { return nil }
    return inode
  }

  mutating func append(_ path: String, _ inode: UInt64?) {
    changes.append(Change(path: path, inode: inode))
  }

  /// Makes selected changes durable.
  mutating func settle(_ isMeant: (Change) -> Bool) {
    for change in changes where isMeant(change) { lasting[change.path] = change.inode }
    changes.removeAll(where: isMeant)
  }

  /// Makes the first changes durable, and reverts the others.
  mutating func cut(keeping count: Int) {
    changes.removeLast(changes.count - count)
    settle { _ in true }
  }
}
