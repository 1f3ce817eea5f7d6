public import Observation

/// The current objects of a query, for display in a view.
///
/// It observes the query until it is released. Code that reads ``objects`` under
/// `withObservationTracking`, including SwiftUI views, is notified of each change.
///
/// ```swift
/// let notes = LiveQuery(Note.where { $0.isPinned == true }, in: store)
/// ```
@MainActor
@Observable
public final class LiveQuery<Root: Model> {
  /// The objects as of the last observed commit.
  ///
  /// Empty until ``isLoaded``.
  public private(set) var objects = ResultSnapshot<Root>()
  /// Whether the first result has been loaded.
  public private(set) var isLoaded = false
  /// The error that ended the observation, if reading failed.
  public private(set) var error: StoreError?

  @ObservationIgnored private let loop: ObservationLoop

  /// Starts to observe a query.
  ///
  /// The first result is loaded asynchronously.
  public init(_ query: Query<Root>, in store: Store) {
    loop = ObservationLoop()
    loop.task = Task { [weak self] in
      do throws(StoreError) {
        for try await change in store.observe(query) {
          guard let self else { return }
          objects = change.snapshot
          isLoaded = true
        }
      } catch {
        self?.error = error
      }
    }
  }
}

/// Cancels the observing task when its owner is released.
@MainActor
private final class ObservationLoop {
  var task: Task<Void, Never>?

  isolated deinit { task?.cancel() }
}
