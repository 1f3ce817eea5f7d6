internal import Foundation

/// Blocks until the file exists, to wait for another process.
public func waitForFile(_ path: String) {
  while !FileManager.default.fileExists(atPath: path) { usleep(1_000) }
}

/// Creates an empty file, to signal another process to continue.
public func makeFile(_ path: String) {
  _ = FileManager.default.createFile(atPath: path, contents: nil)
}
