import Foundation

/// Where output goes: what was asked for to standard output, everything else to standard error.
enum Console {
  static func print(_ lines: [String]) {
    for line in lines { print(line) }
  }

  /// Writes at once, also into a pipe: somebody may wait for the line.
  static func print(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
