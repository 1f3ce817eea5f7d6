internal import SystemInterface

/// A temporary file or folder, which a process removes before a signal ends it.
package protocol UnfinishedItem: Sendable {
  /// The path of the file or folder.
  var path: String { get }

  /// Removes the file or folder, ignoring errors.
  func removeFiles()
}

/// The temporary files and folders of this process.
package enum UnfinishedWork {
  private struct State {
    var items: [any UnfinishedItem] = []
    var isAbandoned = false
  }

  // Also held while an item is made: a process that is about to end must not miss one.
  private static let state = Mutex(State())

  /// Makes a temporary file or folder, and notes it until ``end(_:)``.
  ///
  /// - Returns: The item, or `nil` if the process is about to end; nothing is made then.
  /// - Throws: What `make` throws.
  package static func begin<Item: UnfinishedItem, E: Error>(
    _ make: () throws(E) -> Item
  ) throws(E) -> Item? {
    try state.withLock { state throws(E) in
      guard !state.isAbandoned else { return nil }
      let item = try make()
      state.items.append(item)
      return item
    }
  }

  /// Forgets a temporary file or folder that has its final path or was removed.
  package static func end(_ path: String) {
    state.withLock { state in state.items.removeAll { $0.path == path } }
  }

  /// Removes the temporary files and folders, those that were made last first.
  ///
  /// For a process that is about to end: ``begin(_:)`` makes no others.
  package static func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      for item in state.items.reversed() { item.removeFiles() }
    }
  }
}
