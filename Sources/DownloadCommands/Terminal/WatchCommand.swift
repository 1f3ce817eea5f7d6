internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// A command that a key of `list --watch` runs in a process of its own.
///
/// The list has the store open for reading, and a process opens a store in one way.
struct WatchCommand {
  /// The words after the name of the program.
  let arguments: [String]

  /// Creates the command of a key; `nil` if it runs none.
  init?(path: String, action: WatchView.Action, _ list: ListCommand) {
    switch action {
    case .command(.pause, let id): arguments = ["pause", "--store", path, id]
    case .command(_, let id): arguments = ["resume", "--store", path, id]
    case .retry: arguments = ["retry", "--store", path] + list.selection.arguments
    case .quit, .read: return nil
    }
  }

  /// Runs the command, and returns what it has done, for one line of the terminal.
  func run() -> String {
    guard let program = Bundle.main.executableURL else { return "the program cannot be found" }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    // The messages are short, so nothing waits for their reader while the report is read.
    let (report, messages) = (Pipe(), Pipe())
    process.standardOutput = report
    process.standardError = messages
    do {
      try process.run()
    } catch {
      return "\(error.localizedDescription)"
    }
    let downloads = Self.lines(of: report)
    let problems = Self.lines(of: messages)
    process.waitUntilExit()
    // The screen says already whether an engine runs.
    guard let first = downloads.first ?? problems.first else { return "" }
    return downloads.count < 2 ? first : "\(downloads.count) downloads: \(first) …"
  }

  private static func lines(of pipe: Pipe) -> [String] {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      .split(separator: "\n").map(message)
  }

  /// Returns a line of a report without the id.
  private static func message(_ line: Substring) -> String {
    let words = line.split(separator: " ")
    guard let id = words.first, RecordIdentity.isID(id) else { return String(line) }
    return words.dropFirst().joined(separator: " ")
  }
}
