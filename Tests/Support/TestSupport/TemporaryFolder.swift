internal import Foundation

/// A new folder, gone with the value.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Makes a folder, in memory if asked to and where the system keeps files there.
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

  /// The path of something below.
  public func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of what lies in a folder below, sorted.
  public func names(in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
  }

  /// Puts a file there, in a folder that is made, and returns its path.
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
