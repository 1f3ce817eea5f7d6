internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync

/// `dlstore run`: the engine in the foreground.
struct RunCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the engine: works off the store until it is stopped.",
    discussion: """
      Ctrl-C or a request to terminate stops it cleanly with exit code 0: what has arrived is kept \
      and goes on with the next run. A second one ends it at once, with 130 or 143. With \
      --until-idle the exit code is 1 if a download failed for good.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var limits: EngineLimits

  @Flag(help: "End when nothing is left to do.")
  var untilIdle = false

  @Option(
    help: ArgumentHelp(
      "Where files go from now on, those of known downloads too; it is remembered.",
      valueName: "folder"
    ),
    completion: .directory
  )
  var outputFolder: String?

  func run() async throws {
    let folder = try outputFolder.map { try Folder.made(at: $0) }
    let store = try DownloadStore(at: location.resolved())
    if let folder { try setRoot(folder, of: store) }
    let session = try EngineSession(store: store, limits: limits)
    let end = try await session.run(until: untilIdle ? .idle : .stopped)
    if untilIdle, end.signal == nil, end.summary.failed > 0 { throw CommandFailure(.failed) }
  }

  /// An engine reads the roots when it is made, and they must not move while another one works: so
  /// the lock is taken twice.
  private func setRoot(_ folder: String, of store: DownloadStore) throws {
    let probe = try EngineSession(store: store, limits: limits)
    try store.setRoot(folder)
    withExtendedLifetime(probe) {}
  }

  /// Failures of workers that crashed later count too.
  var failsWhenSomethingFailed: Bool { untilIdle }
}
