import Foundation

/// Writes data to standard output, and messages to standard error.
enum Console {
  static func print(_ lines: [String]) {
    for line in lines { print(line) }
  }

  /// Writes a line unbuffered, so that a reader of a pipe sees it immediately.
  static func print(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
