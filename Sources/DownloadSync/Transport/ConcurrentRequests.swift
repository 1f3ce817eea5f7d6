internal import DownloadStore

/// Questions to several servers at the same time.
enum ConcurrentRequests {
  private static let maximumRunning = 8

  /// Asks for each item, a few at a time.
  ///
  /// - Parameters:
  ///   - items: What to ask for.
  ///   - ask: Asks for one item.
  /// - Returns: The results in the order of the items; a failure if `ask` throws one.
  /// - Throws: Any other error of `ask`; `CancellationError`.
  static func results<Item: Sendable, Value: Sendable>(
    of items: [Item],
    _ ask: @escaping @Sendable (Item) async throws -> Value
  ) async throws -> [Result<Value, DownloadFailure>] {
    try await withThrowingTaskGroup(of: (Int, Result<Value, DownloadFailure>).self) { group in
      var results: [Int: Result<Value, DownloadFailure>] = [:]
      for (index, item) in items.enumerated() {
        if index >= maximumRunning, let (done, result) = try await group.next() {
          results[done] = result
        }
        group.addTask {
          do {
            return (index, .success(try await ask(item)))
          } catch let failure as DownloadFailure {
            return (index, .failure(failure))
          }
        }
      }
      for try await (done, result) in group { results[done] = result }
      return items.indices.compactMap { results[$0] }
    }
  }
}
