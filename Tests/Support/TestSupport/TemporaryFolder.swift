internal import Foundation

/// A new temporary folder, which is deleted when the value is released.
public final class TemporaryFolder: Sendable {
  /// The path of the folder.
  public let path: String

  /// Creates a folder.
  ///
  /// - Parameter inMemory: Whether to create the folder in `/dev/shm`, if that is writable.
  /// - Throws: A Foundation error if the folder cannot be created.
  public init(inMemory: Bool = false) throws {
    let memory = URL(filePath: "/dev/shm")
    let isPossible = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
    let folder = (isPossible ? memory : FileManager.default.temporaryDirectory)
      .appending(path: "dlstore-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.resolvingSymlinksInPath().path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Returns the path of an item in the folder.
  public func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Returns the sorted names of the items in the folder or in one of its subfolders.
  public func names(in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }

  /// Creates a file, and its parent folders if they are missing, and returns its path.
  @discardableResult
  public func makeFile(_ name: String, _ text: String = "") throws -> String {
    let url = URL(filePath: path(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(text.utf8).write(to: url)
    return url.path
  }
}
