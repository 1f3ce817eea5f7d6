import Foundation
import TestSupport
import Testing

/// The reader in Python, as a process of its own.
enum SecondReader {
  /// What it printed, and how it ended.
  struct Report {
    var lines: [Line]
    var problems: String
    var status: Int32
  }

  /// One record.
  struct Line: Decodable, Equatable {
    var fields: [String: JSON]
    var layout: Int
    var model: String
    var object: UInt64
  }

  /// The folder of the package.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// Reads the store in a folder.
  static func read(_ store: String) throws -> Report {
    let python = "\(root)/.build/python/bin/python3"
    try #require(
      FileManager.default.isExecutableFile(atPath: python),
      "there is no Python with lmdb for the second reader: run .ci/install-python-lmdb"
    )
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = ["-B", "\(root)/Tests/SecondReader/read_store.py", store]
    // Files take any amount of text without anybody reading it.
    process.standardOutput = try handle("\(folder.path)/lines")
    process.standardError = try handle("\(folder.path)/problems")
    try process.run()
    process.waitUntilExit()
    let output = try Data(contentsOf: URL(filePath: "\(folder.path)/lines"))
    return Report(
      lines: try output.split(separator: UInt8(ascii: "\n")).map {
        try JSONDecoder().decode(Line.self, from: $0)
      },
      problems: try String(contentsOfFile: "\(folder.path)/problems", encoding: .utf8),
      status: process.terminationStatus
    )
  }

  private static func handle(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(filePath: path))
    return try FileHandle(forWritingTo: URL(filePath: path))
  }
}
