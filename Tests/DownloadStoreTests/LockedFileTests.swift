import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore

struct LockedFileTests {
  /// A copy of the descriptor stands for a child that another thread is starting: it has one until
  /// `exec`.
  @Test func `the lock ends with its value although a child that starts has the descriptor`() throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path("a.partial")
    let copy: Int32
    do {
      let file = try LockedFile(creating: path)
      #expect(throws: LockedFile.Refusal.locked) { _ = try LockedFile(path, for: .writing) }
      copy = dup(file.descriptor)
    }
    defer { close(copy) }
    _ = try LockedFile(path, for: .writing)
  }
}
