internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadServer
internal import DownloadStore
internal import DownloadSync
internal import Logging
internal import ObjectStore

/// `dlstore serve`: a page and an API over a store.
struct ServeCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serves a web page and an API that show the store.",
    discussion: """
      Prints the address to open, with a token that signs the browser in. Shows what all processes do \
      with the store; with --run it also runs the engine, with the options of 'run'. Changes nothing \
      unless --allow-changes is given. Only this machine can connect, unless --listen names an address \
      of the network. Ctrl-C or SIGTERM ends it with exit code 0.

      EXAMPLES:
        dlstore serve
        dlstore serve --run --allow-changes
        dlstore serve --socket /run/user/1000/dlstore.sock
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var serving: ServeOptions

  @Flag(name: .customLong("run"), help: "Also run the engine, with the options of 'run'.")
  var runsEngine = false

  @Flag(help: "Print the address as one JSON object.")
  var json = false

  @OptionGroup var limits: EngineLimits
  @OptionGroup var display: DisplayOptions
  @OptionGroup var hooks: HookOptions
  @OptionGroup var place: RunFolder

  func validate() throws {
    guard !json || !display.jsonEvents else {
      throw ValidationError("--json and --json-events cannot be combined.")
    }
  }

  /// A worker that is restarted after a crash keeps its token, so that browsers stay signed in.
  ///
  /// Its port comes from the previous worker; see ``Worker/tellServing(port:)``.
  func workerEnvironment() throws -> [String: String] {
    var environment = limits.client.environment
    if let token = try serving.token() { environment[Worker.Variable.token] = token }
    return environment
  }

  func run() async throws {
    #if Server
      try await serve()
    #else
      throw CommandFailure(
        .usage,
        "this dlstore was built without the server; build it with 'swift build --traits Server'"
      )
    #endif
  }
}

#if Server
  extension ServeCommand {
    private func serve() async throws {
      var options = try serving.options(token: try Worker.current?.token ?? serving.token())
      let storePath = location.resolved()
      options.runCommand = { arguments, input, mayChange in
        await RemoteExecution.run(
          arguments,
          input: input,
          onStoreAt: storePath,
          mayChange: mayChange
        )
      }
      guard runsEngine else {
        let path = serving.allowChanges ? location.resolved() : try location.existing()
        let access: StoreOptions.Access = serving.allowChanges ? .create : .readOnly
        let store = try RecordStore(at: path, access: access)
        return try await serve(store, options)
      }
      try limits.client.checkFiles()
      // A usage error leaves nothing behind.
      _ = try hooks.actions(limits.client)
      let folder = try place.outputFolder.map { try Folder.made(at: $0) }
      let store = try RecordStore(at: location.resolved(), checksPages: Worker.followsCrash)
      if let folder { try StandardFolder.set(folder, of: store, isQuiet: display.quiet) }
      let setup = try EngineSetup(store: store, limits: limits, display: display, hooks: hooks)
      // First, so that an address is printed only if this process has the engine.
      let session = try EngineSession(store: store, setup: setup)
      var serving: Task<Void, any Error>?
      defer { serving?.cancel() }
      // A signal that follows the address is handled.
      _ = try await session.run(until: .stopped) {
        let (starts, start) = AsyncStream<Void>.makeStream()
        let task = Task { [options] in
          defer { start.finish() }
          try await run(store, options, setup.display.logger) { start.yield() }
        }
        serving = task
        for await _ in starts { return }
        try await Self.end(of: task)
        throw CancellationError()
      }
      serving?.cancel()
      if let serving { try await Self.end(of: serving) }
    }

    /// Runs the server, and announces its address.
    ///
    /// The port of the previous worker, which was any free one, may be taken since. Then any other is used:
    /// the engine goes on in any case.
    private func run(
      _ store: RecordStore,
      _ options: ServerOptions,
      _ logger: Logger? = nil,
      onStart: @escaping @Sendable () -> Void = {}
    ) async throws {
      var isMoved = false
      if let port = Worker.current?.port, case .address(let host, port: 0) = options.endpoint {
        var previous = options
        previous.endpoint = .address(host, port: port)
        do {
          return try await DownloadServer(store: store, options: previous, logger: logger)
            .run { address in
              announce(address)
              onStart()
            }
        } catch let error as ServerStartError where error.code == .inUse {
          isMoved = true
        }
      }
      try await DownloadServer(store: store, options: options, logger: logger)
        .run { [isMoved] address in
          announce(address, isMoved: isMoved)
          onStart()
        }
    }

    /// Serves until a signal arrives.
    private func serve(_ store: RecordStore, _ options: ServerOptions) async throws {
      // A signal that follows the address is handled.
      let (stops, stop) = AsyncStream<Void>.makeStream()
      let signals = StopSignals { _ in stop.finish() }
      let serving = Task { try await run(store, options) }
      let stopping = Task {
        for await _ in stops {}
        serving.cancel()
      }
      defer { stopping.cancel() }
      try await Self.end(of: serving)
      withExtendedLifetime(signals) {}
    }

    private static func end(of serving: Task<Void, any Error>) async throws {
      do {
        try await serving.value
      } catch is CancellationError {
        // A signal has ended it.
      } catch let error as ServerStartError {
        let advice = error.code == .inUse ? "; --port N or --socket PATH chooses another place" : ""
        throw CommandFailure(.cannotCreate, error.message + advice)
      }
    }

    /// Prints where the server can be reached: once, and again if that has changed.
    private func announce(_ address: DownloadServer.Address, isMoved: Bool = false) {
      if let port = address.port.flatMap({ UInt16(exactly: $0) }) {
        Worker.current?.tellServing(port: port)
      }
      guard isMoved || Worker.current?.isRestarted != true else { return }
      // The token of a file is not repeated: the output of a service is kept in a log.
      let url = serving.tokenFile == nil ? address.startURL : address.url
      do {
        if json {
          let value: JSONValue = [
            "allowsChanges": .bool(serving.allowChanges),
            "port": JSONValue(address.port.map(Int64.init)),
            "socket": JSONValue(address.socketPath),
            "url": JSONValue(url),
          ]
          try Output.current.line(value.text)
        } else {
          try Output.current.line(url ?? address.socketPath ?? "")
        }
      } catch {
        // The server goes on without a reader of its address.
      }
      guard !display.quiet, !json else { return }
      Output.current.say(
        (url == nil ? "accepting connections" : "open this address in a browser")
          + (serving.allowChanges ? "" : "; the page changes nothing without --allow-changes")
          + "; Ctrl-C ends the server"
      )
    }
  }
#endif
