internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadSync

/// The HTTP client, and how it reaches servers.
struct ClientOptions: ParsableArguments {
  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("The HTTP client.", valueName: "name"))
  var transport = TransportChoice.standard

  func validate() throws {
    try transport.validate()
    try connection.validate(for: transport)
  }

  /// Throws if a certificate or a key cannot be read.
  ///
  /// A command calls this before it stores anything: a usage error leaves nothing behind.
  ///
  /// - Throws: ``CommandFailure``.
  func checkFiles() throws { try transport.checkFiles(of: connection) }

  /// Creates the transport.
  ///
  /// - Throws: ``CommandFailure`` if a certificate or a key cannot be read.
  func makeTransport(
    connectionsPerHost: Int,
    bytesPerSecond: Int64? = nil
  ) throws -> any RateLimitedTransport {
    try transport.make(
      connectionsPerHost: connectionsPerHost,
      bytesPerSecond: bytesPerSecond,
      connection: connection
    )
  }
}
