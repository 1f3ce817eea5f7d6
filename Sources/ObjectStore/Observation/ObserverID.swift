internal import Synchronization

/// Names an observation, so that a write can say that it shall not hear of it.
///
/// A sequence of changes has one, and each copy of the sequence the same: see
/// ``ResultChanges/observer``. It means nothing to another store value or process.
public struct ObserverID: Sendable, Hashable {
  private static let last = Atomic<UInt64>(0)

  private let number: UInt64

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
