internal import Synchronization

/// Keeps the completion handler that an application is given when the events of its background
/// session have piled up, until all of them are told.
///
/// The handler comes with `application(_:handleEventsForBackgroundURLSession:completionHandler:)`;
/// the system waits for its call, takes its picture of the application then, and lets it sleep.
public final class BackgroundEvents: Sendable {
  /// The name of the session.
  public let identifier: String
  // Held for a look; a handler is never called under it.
  private let handler = Mutex<(@MainActor @Sendable () -> Void)?>(nil)

  /// Keeps handlers for the session of that name.
  public init(identifier: String) {
    self.identifier = identifier
  }

  /// Keeps a handler, unless it is for another session.
  ///
  /// One that is kept already is for events that the new one covers too: it is called at once.
  ///
  /// - Returns: Whether it is for this session.
  @discardableResult
  public func accept(
    identifier: String,
    handler new: @escaping @MainActor @Sendable () -> Void
  ) -> Bool {
    guard identifier == self.identifier else { return false }
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    if let old { Self.call(old) }
    return true
  }

  /// All events are told: the handler is called once, on the main actor, and forgotten.
  public func finish() {
    let last = handler.withLock { $0.take() }
    if let last { Self.call(last) }
  }

  private static func call(_ handler: @escaping @MainActor @Sendable () -> Void) {
    Task { @MainActor in handler() }
  }
}
