import Foundation
import TestSupport
import Testing

/// Runs the reader in Python in a child process.
enum SecondReader {
  /// The output and the exit status of the reader.
  struct Report {
    var lines: [Line]
    var problems: String
    var status: Int32
  }

  /// A line of the output, which is one record.
  struct Line: Decodable, Equatable {
    var fields: [String: JSON]
    var layout: Int
    var model: String
    var object: UInt64
  }

  /// The root folder of the package.
  static let root = URL(filePath: #filePath)
    .appending(path: "../../../..").standardized.path

  /// Reads the store in a folder with the Python reader.
  static func read(_ store: String) throws -> Report {
    let python = "\(root)/.build/python/bin/python3"
    try #require(
      FileManager.default.isExecutableFile(atPath: python),
      "Python with lmdb is missing for the second reader: run .ci/install-python-lmdb"
    )
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = ["-B", "\(root)/Tests/StoredFormatTests/SecondReader/read_store.py", store]
    // Redirects to files, because a pipe would block once its buffer is full.
    process.standardOutput = try handle("\(folder.path)/lines")
    process.standardError = try handle("\(folder.path)/problems")
    try process.start()
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
