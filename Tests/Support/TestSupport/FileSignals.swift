internal import Foundation

/// Blocks until the file exists, to wait for another process.
///
/// A test must not call it before its child process runs: the tests share a few threads, and the
/// child is started by one of them.
public func waitForFile(_ path: String) {
  while !FileManager.default.fileExists(atPath: path) { usleep(1_000) }
}

/// Waits until the file exists, without blocking a thread that starts child processes.
public func waitUntilExists(_ path: String) async {
  while !FileManager.default.fileExists(atPath: path) {
    try? await Task.sleep(for: .milliseconds(1))
  }
}

/// Creates an empty file, to signal another process to continue.
public func makeFile(_ path: String) {
  _ = FileManager.default.createFile(atPath: path, contents: nil)
}
