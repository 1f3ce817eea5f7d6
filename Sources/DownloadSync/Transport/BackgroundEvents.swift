internal import SystemInterface

/// Holds the completion handler for the events of a background session, and calls it when all of
/// these events have been delivered.
///
/// The system passes the handler to
/// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. After the call it
/// updates the application's snapshot and may suspend the application.
public final class BackgroundEvents: Sendable {
  /// The identifier of the session.
  public let identifier: String
  // Held to exchange the handler. A handler is never called under the lock.
  private let handler = Mutex<(@MainActor @Sendable () -> Void)?>(nil)

  /// Creates an instance without a handler.
  ///
  /// - Parameter identifier: The identifier of the session whose handlers are accepted.
  public init(identifier: String) {
    self.identifier = identifier
  }

  /// Stores a handler until ``finish()``, unless it belongs to another session.
  ///
  /// A handler that is already stored is called immediately: the new one covers its events too.
  ///
  /// - Parameters:
  ///   - identifier: The session identifier that the system passed with the handler.
  ///   - new: The handler; called once, on the main actor.
  /// - Returns: Whether the handler belongs to this session and was stored.
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

  /// Calls the stored handler once, on the main actor, and removes it.
  ///
  /// A background transport calls this when the session reports that all events have been
  /// delivered. Without a stored handler it does nothing.
  public func finish() {
    let last = handler.withLock { $0.take() }
    if let last { Self.call(last) }
  }

  private static func call(_ handler: @escaping @MainActor @Sendable () -> Void) {
    Task { @MainActor in handler() }
  }
}
