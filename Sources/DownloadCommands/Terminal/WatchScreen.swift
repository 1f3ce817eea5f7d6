internal import CommandLineSupport
internal import Dispatch
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import SystemInterface

/// The screen of `list --watch` on a terminal, and its keys.
///
/// Speeds are measured from the stored byte counts, which an engine updates every second.
final class WatchScreen: Sendable {
  private struct State {
    var screen = FullScreen()
    var commit: UInt64?
    /// The process of the engine when the content was read; `nil` if none ran.
    var engine: String?
    var content: WatchContent
    /// The rate limit of the store when the content was read.
    var limit: Int64?
    var view = WatchView()
    var message = ""
    var pace = WatchPace()
    var speeds = ListSpeeds()
    /// The number of downloads on the screen.
    var page = 1
    var isSuspended = false
    var isClosed = false
    var mode: TerminalKeys?
    var source: (any DispatchSourceRead)?
    /// Whether the terminal has been closed.
    var haveKeysEnded = false
    /// The last frame without the keys, which stays on the terminal after the end.
    var last: [ScreenLine] = []
  }

  private let state: Mutex<State>
  private let list: ListCommand
  private let names: Filter<DownloadRecord>?
  private let store: RecordStore
  private let terminal: Terminal
  private let output = Output.current
  private let queue = DispatchQueue(label: "dlstore.watch-keys")

  init(
    list: ListCommand,
    names: Filter<DownloadRecord>?,
    store: RecordStore,
    terminal: Terminal
  ) {
    self.list = list
    self.names = names
    self.store = store
    self.terminal = terminal
    state = Mutex(State(content: WatchContent(of: list.listing(names, engineRuns: false))))
  }

  /// Draws what has changed since the last call, and begins to read keys.
  ///
  /// - Parameter quit: Called when the user presses the key that quits.
  /// - Throws: `StoreError`; ``ClosedPipe``; ``CommandFailure``.
  func show(_ quit: @escaping @Sendable () -> Void) throws {
    try state.withLock { state in
      guard !state.isSuspended, !state.isClosed, terminal.isInForeground else { return }
      readKeys(&state, quit)
      try draw(&state)
    }
  }

  private func draw(_ state: inout State) throws {
    let number = try store.objects.commitNumber()
    let size = terminal.size
    // An engine that was killed has committed nothing.
    let engine = EngineLock.holder(storePath: store.path)
    let isCurrent = number == state.commit && engine == state.engine
    let isShown = isCurrent && state.screen.shows(size)
    // The speeds of running downloads, and the time to the next attempts, change without a commit.
    guard !isShown || state.speeds.hasRunning || state.content.isRetrying else { return }
    if !isCurrent, state.pace.allowsRead() {
      let isSame = state.commit != nil && (engine == nil) == (state.engine == nil)
      var content =
        isSame ? state.content : self.content(for: state.view, engineRuns: engine != nil)
      try state.pace.measure { try content.update(from: store) }
      state.content = content
      state.limit = try store.rateLimit()
      state.commit = number
      state.engine = engine
    }
    try drawContent(&state, size)
  }

  private func drawContent(_ state: inout State, _ size: (columns: Int, lines: Int)) throws {
    state.speeds.note(state.content.running, at: .now)
    let frame = WatchFrame(
      entries: state.content.entries,
      count: state.content.count,
      speeds: state.speeds.values,
      summary: state.content.summary(state.speeds),
      engine: state.engine,
      limit: state.limit,
      view: state.view,
      isSelection: !list.selection.isEmpty,
      hasKeys: state.mode != nil,
      message: state.message,
      output: list.display.output
    )
    let style = TerminalStyle(of: terminal, color: list.display.color.color)
    let (lines, keys) = frame.lines(in: size, style)
    state.last = lines
    state.page = frame.rows(in: size.lines)
    let bytes = state.screen.frame(lines + (keys.map { [$0] } ?? []), size: size)
    if !bytes.isEmpty { try output.write(bytes) }
  }

  /// The content for a view: `--sort` holds until another order is chosen, and the filter selects
  /// among the downloads that the options select.
  private func content(for view: WatchView, engineRuns: Bool) -> WatchContent {
    var listing = list.listing(names, engineRuns: engineRuns)
    if let states = view.filter.states {
      listing.condition = DownloadRecord.columns.state.isIn(states) && listing.condition
    }
    if let order = view.order.listOrder { listing.order = order }
    guard listing.order == nil else { return WatchContent(of: listing) }
    return WatchContent(of: listing, groups: WatchView.groups(engineRuns: engineRuns))
  }

  // MARK: Keys

  private func readKeys(_ state: inout State, _ quit: @escaping @Sendable () -> Void) {
    guard state.source == nil, !state.haveKeysEnded, Terminal.input.isTerminal,
      Terminal.input.isInForeground
    else { return }
    if state.mode == nil { state.mode = TerminalKeys(STDIN_FILENO) }
    guard let mode = state.mode else { return }
    mode.begin()
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
    source.setEventHandler { [weak self] in
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, into: &bytes)
      guard let self, count > 0 else { return self?.endKeys() ?? () }
      for key in WatchKey.keys(in: Array(bytes.prefix(count))) where !press(key) { quit() }
    }
    source.resume()
    state.source = source
  }

  /// Applies a key; returns false to quit.
  private func press(_ key: WatchKey) -> Bool {
    let action = state.withLock { state -> WatchView.Action? in
      guard !state.isSuspended, !state.isClosed else { return nil }
      state.message = ""
      let action = state.view.press(
        key,
        state.content.entries.map(\.record.id),
        page: state.page
      )
      if action == .read {
        state.commit = nil
        state.pace = WatchPace()
      }
      return action
    }
    if action == .quit { return false }
    let message = action.flatMap { WatchCommand(path: store.path, action: $0, list)?.run() } ?? ""
    return state.withLock { state in
      guard !state.isSuspended, !state.isClosed else { return true }
      state.message = message
      do {
        try draw(&state)
        // The selection and the message change no commit.
        try drawContent(&state, terminal.size)
        return true
      } catch {
        return false
      }
    }
  }

  /// Stops reading keys, because the terminal has been closed.
  private func endKeys() {
    state.withLock { state in
      state.source?.cancel()
      state.haveKeysEnded = true
    }
  }

  private func restoreKeys(_ state: inout State) {
    state.source?.cancel()
    state.source = nil
    if Terminal.input.isInForeground { state.mode?.end() }
  }

  // MARK: The end

  /// Restores the terminal, before the process stops.
  func suspend() {
    state.withLock { state in
      restoreKeys(&state)
      try? output.write(state.screen.close())
      state.isSuspended = true
    }
  }

  /// Allows frames again, after the process has continued.
  func resume() {
    state.withLock { $0.isSuspended = false }
  }

  /// Restores the terminal, and leaves the last frame on it.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      restoreKeys(&state)
      let bytes = state.screen.close()
      guard !bytes.isEmpty else { return }
      try? output.write(bytes + state.last.map { $0.text + "\n" }.joined())
    }
  }
}
