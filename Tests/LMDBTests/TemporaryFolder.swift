import Foundation

/// A new folder, gone with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "lmdb-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// Returns once the file exists: how one process waits for another.
func waitForFile(_ path: String) {
  while !FileManager.default.fileExists(atPath: path) { usleep(1_000) }
}

func makeFile(_ path: String) {
  _ = FileManager.default.createFile(atPath: path, contents: nil)
}
