public import ObjectStore

/// The downloads that have a tag.
///
/// It is read from the store, so that every process has it; bytes are counted up to the last
/// checkpoint, about a second ago. An engine has a view of its own that counts every byte.
public struct DownloadGroup: Sendable {
  /// The tag.
  public let tag: String
  /// The store that the records are in.
  let store: DownloadStore

  /// The records of the group.
  public var query: Query<DownloadRecord> {
    let tag = tag
    return DownloadRecord.where { $0.tags.contains(tag) }
  }

  /// How far the group is now.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(members).
  public func progress() throws -> GroupProgress {
    var tally = GroupTally()
    for record in try store.records(query) { tally[record.id] = GroupTally.Member(record) }
    return tally.progress
  }

  /// How far the group is: now, and then each time that it has changed.
  ///
  /// Each iterator follows the store by itself. What happens while nobody asks is told at once, so
  /// that a slow reader costs nothing and always comes to the last state.
  ///
  /// - Parameter interval: The least time between two elements.
  /// - Returns: A sequence that ends with the task that reads it.
  public func changes(every interval: Duration = .milliseconds(200)) -> GroupChanges {
    GroupChanges(group: self, interval: interval)
  }

  /// The records of the group, and how they change in what the sums are made of.
  package func differences() -> ResultChanges<DownloadRecord> {
    store.objects.observe(query, fields: [\.state, \.received, \.expected, \.tags])
  }
}

extension DownloadStore {
  /// The downloads that have the tag; there need not be any yet.
  public func group(_ tag: String) -> DownloadGroup {
    DownloadGroup(tag: tag, store: self)
  }
}
