public import ObjectStore

/// The downloads with a tag.
///
/// A group is read from the store, in any process. Bytes are counted up to the last checkpoint,
/// about a second ago; the engine's own group counts every byte.
public struct DownloadGroup: Sendable {
  /// The tag.
  public let tag: String
  /// The store of the records.
  let store: RecordStore

  /// The records of the group.
  public var query: Query<DownloadRecord> {
    let tag = tag
    return DownloadRecord.where { $0.tags.contains(tag) }
  }

  /// The current progress of the group.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(members).
  public func progress() throws -> GroupProgress {
    var tally = GroupTally()
    for record in try store.records(query) { tally[record.id] = GroupTally.Member(record) }
    return tally.progress
  }

  /// The progress of the group, now and after each change.
  ///
  /// Each iterator follows the store independently. Changes between two calls are combined, so a
  /// slow reader costs nothing and always gets the latest state.
  ///
  /// - Parameter interval: The minimum time between two elements.
  /// - Returns: A sequence that ends when the reading task is cancelled.
  public func changes(every interval: Duration = .milliseconds(200)) -> GroupChanges {
    GroupChanges(group: self, interval: interval)
  }

  /// Observes the fields of the group's records that the sums depend on.
  package func differences() -> ResultChanges<DownloadRecord> {
    store.objects.observe(query, fields: [\.state, \.received, \.expected, \.tags])
  }
}

extension RecordStore {
  /// The group of downloads with a tag, which may be empty.
  public func group(_ tag: String) -> DownloadGroup {
    DownloadGroup(tag: tag, store: self)
  }
}
