public import Observation

/// The objects of a query for a view to show, always as they are.
///
/// It observes from its making to its end; whatever reads ``objects`` under
/// `withObservationTracking`, SwiftUI's views too, is told of each change.
///
/// ```swift
/// let notes = LiveQuery(Note.where { $0.isPinned }, in: store)
/// ```
@MainActor
@Observable
public final class LiveQuery<Root: Model> {
  /// The objects, as of the last commit that was seen; none before the first look.
  public private(set) var objects = ResultSnapshot<Root>()
  /// Whether the first look has been.
  public private(set) var isLoaded = false
  /// What ended the observation, if reading failed.
  public private(set) var error: StoreError?

  @ObservationIgnored private let loop: ObservationLoop

  /// Begins to observe.
  public init(_ query: Query<Root>, in store: ObjectStore) {
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

/// Ends the observation with its owner.
@MainActor
private final class ObservationLoop {
  var task: Task<Void, Never>?

  isolated deinit { task?.cancel() }
}
