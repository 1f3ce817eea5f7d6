import Downloads
import Foundation

/// The cache folder of a model: blobs by name, and snapshots whose files are links to them.
struct Cache {
  static let blobs = "blobs"

  let folder: URL

  init(of model: Model, in cache: URL) {
    let name = model.name.replacing("/", with: "--")
    folder = cache.appending(path: "models--\(name)").standardizedFileURL
  }

  func create() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Whether the contents of a file are there, whole.
  func has(_ file: HubFile) -> Bool {
    let path = folder.appending(path: "\(Self.blobs)/\(file.blob)").path
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
    return size == file.size
  }

  /// Makes the snapshot of a commit, and then lets the revision refer to it.
  func link(_ files: [HubFile], commit: String, revision: String) throws {
    let snapshot = folder.appending(path: "snapshots/\(commit)")
    for file in files {
      let link = snapshot.appending(path: file.path)
      try FileManager.default.createDirectory(
        at: link.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      let depth = file.path.split(separator: "/").count + 1
      let target = String(repeating: "../", count: depth) + "\(Self.blobs)/\(file.blob)"
      do {
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
      } catch  where Self.isLink(link, to: target) {
        // It was there, or another process has made it just now.
      }
    }
    let reference = folder.appending(path: "refs/\(revision)")
    try FileManager.default.createDirectory(
      at: reference.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(commit.utf8).write(to: reference, options: .atomic)
  }

  private static func isLink(_ link: URL, to target: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)) == target
  }

  /// The folder of the snapshot that a revision, or a commit, had last.
  func snapshot(of revision: String) throws -> URL {
    let reference = folder.appending(path: "refs/\(revision)")
    let commit = (try? String(contentsOf: reference, encoding: .utf8)) ?? revision
    let snapshot = folder.appending(path: "snapshots/\(commit)")
    guard FileManager.default.fileExists(atPath: snapshot.path) else {
      throw DownloadFailure(.notFound, "no snapshot of \(revision) in \(folder.path)")
    }
    return snapshot
  }
}
