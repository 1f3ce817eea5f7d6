internal import CommandLineSupport
internal import SystemInterface

/// The live region at the bottom of a terminal, shared by the tasks and signal handlers that use it.
///
/// It draws only while the process is in the terminal's foreground: a background job prints plain
/// lines, so that it does not overwrite the shell's prompt.
final class LiveScreen: Sendable {
  private struct State {
    var region = LiveRegion()
    var printed: [String] = []
    var isSuspended = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let output: Output
  private let terminal: Terminal

  init(output: Output, terminal: Terminal = .messages) {
    self.output = output
    self.terminal = terminal
  }

  /// Prints a line above the region, with the next frame.
  func print(_ line: String) {
    state.withLock { $0.printed.append(line) }
  }

  /// Draws a frame of the lines that `lines` returns for the current size of the terminal.
  func draw(_ lines: ((columns: Int, lines: Int)) -> [ScreenLine]) {
    state.withLock { state in
      guard !state.isSuspended, !state.isClosed else { return }
      guard terminal.isInForeground else { return printPlainly(&state) }
      let size = terminal.size
      let frame = state.region.frame(
        lines(size),
        printing: state.printed,
        columns: size.columns,
        reflows: Terminal.reflows
      )
      state.printed = []
      if !frame.isEmpty { output.draw(frame) }
    }
  }

  /// Erases the region and shows the cursor, before the process stops.
  func suspend() {
    state.withLock { state in
      erase(&state)
      state.isSuspended = true
    }
  }

  /// Allows frames again, after the process has continued.
  func resume() {
    state.withLock { $0.isSuspended = false }
  }

  /// Erases the region, prints the remaining lines, and shows the cursor.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      if terminal.isInForeground { erase(&state) }
      printPlainly(&state)
      state.isClosed = true
    }
  }

  private func erase(_ state: inout State) {
    let bytes = state.region.erase(columns: terminal.size.columns, reflows: Terminal.reflows)
    if !bytes.isEmpty { output.draw(bytes) }
  }

  private func printPlainly(_ state: inout State) {
    guard !state.printed.isEmpty else { return }
    output.draw(state.printed.map { $0 + "\n" }.joined())
    state.printed = []
  }
}
