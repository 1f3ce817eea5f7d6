/// The names in a folder: those that outlast a power cut, and what has happened to names since.
struct NameJournal: Sendable {
  /// A name that a file has got, or that is gone.
  struct Change: Sendable {
    var path: String
    /// The file; `nil` when the name is gone.
    var inode: UInt64?
  }

  /// The names that outlast a power cut.
  private(set) var lasting: [String: UInt64] = [:]
  /// What has happened to names since, in order.
  private(set) var changes: [Change] = []

  /// The file that has the name as far as everybody sees.
  func inode(named path: String) -> UInt64? {
    if let change = changes.last(where: { $0.path == path }) { return change.inode }
    return lasting[path]
  }

  /// The names that everybody sees.
  var current: [String] {
    Set(lasting.keys).union(changes.map(\.path)).filter { inode(named: $0) != nil }.sorted()
  }

  /// The file that the name will have after any power cut; `nil` when it may have none, or another.
  func promised(_ path: String) -> UInt64? {
    guard let inode = lasting[path],
      !changes.contains(where: { $0.path == path && $0.inode != inode })
    else { return nil }
    return inode
  }

  mutating func append(_ path: String, _ inode: UInt64?) {
    changes.append(Change(path: path, inode: inode))
  }

  /// Makes some of the changes last.
  mutating func settle(_ isMeant: (Change) -> Bool) {
    for change in changes where isMeant(change) { lasting[change.path] = change.inode }
    changes.removeAll(where: isMeant)
  }

  /// Makes the first of the changes last, and takes back the others.
  mutating func cut(keeping count: Int) {
    changes.removeLast(changes.count - count)
    settle { _ in true }
  }
}
