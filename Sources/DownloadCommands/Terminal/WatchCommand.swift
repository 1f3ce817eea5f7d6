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
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    do {
      try process.run()
    } catch {
      return "\(error.localizedDescription)"
    }
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
      .map(Self.message)
    guard let first = lines.first else { return "" }
    return lines.count == 1 ? first : "\(lines.count) downloads: \(first) …"
  }

  /// Returns a line of a report without the id.
  private static func message(_ line: Substring) -> String {
    let words = line.split(separator: " ")
    guard let id = words.first, RecordIdentity.isID(id) else { return String(line) }
    return words.dropFirst().joined(separator: " ")
  }
}
