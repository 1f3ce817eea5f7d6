import Foundation

/// Another process of this program, which exchanges lines with this one.
final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var text = Data()

  init(_ role: CommandLatencyCommand.Role, store: String, _ commands: Int) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "--role", role.rawValue, "--store", store, "--commands", "\(commands)",
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Tells the process to continue.
  func proceed() {
    input.fileHandleForWriting.write(Data("\n".utf8))
  }

  /// Waits for the next line; returns `nil` at the end.
  func readLine() -> String? {
    while true {
      if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
        defer { text = Data(text[text.index(after: end)...]) }
        return String(decoding: text[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { return nil }
      text.append(more)
    }
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
  }
}
