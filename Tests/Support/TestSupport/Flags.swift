internal import Foundation

/// Returns once the file exists: how one process waits for another.
public func waitForFile(_ path: String) {
  while !FileManager.default.fileExists(atPath: path) { usleep(1_000) }
}

/// Makes an empty file: how one process tells another to go on.
public func makeFile(_ path: String) {
  _ = FileManager.default.createFile(atPath: path, contents: nil)
}
