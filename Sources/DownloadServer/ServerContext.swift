internal import DownloadReports
package import DownloadStore
package import Logging

/// What the routes of a server share.
package struct ServerContext: Sendable {
  /// The store.
  package let store: RecordStore
  /// The changes of the store, and the speeds of running downloads.
  package let feed: LiveFeed
  /// The token of clients; `nil` on a socket without one.
  ///
  /// JSON-RPC requests have it in their bodies.
  package let token: AccessToken?
  /// Whether requests may change the store.
  package let allowsChanges: Bool
  /// The limits.
  package let limits: ServerLimits
  /// The origins whose pages may call aria2's JSON-RPC.
  package let rpcOrigins: Set<String>
  /// Runs a command of the command line; `nil` if the program has none.
  package let runCommand: ServerOptions.CommandRunner?
  /// The logger.
  ///
  /// Targets of requests are not logged, because they may contain the token.
  package let logger: Logger

  /// Creates the context of a server.
  package init(store: RecordStore, feed: LiveFeed, options: ServerOptions, logger: Logger) {
    self.store = store
    self.feed = feed
    token = options.token
    allowsChanges = options.allowsChanges
    limits = options.limits
    rpcOrigins = options.rpcOrigins
    runCommand = options.runCommand
    self.logger = logger
  }

  /// Reads from the store on a thread that may block.
  ///
  /// - Throws: The error of `body`.
  package func read<R: Sendable>(
    _ body: @escaping @Sendable (RecordStore) throws -> R
  ) async throws -> R {
    let store = store
    return try await store.inBackground { try body(store) }
  }
}
