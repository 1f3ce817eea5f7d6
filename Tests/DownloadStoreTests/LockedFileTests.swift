import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore

struct LockedFileTests {
  @Test func `the lock of a file ends with its value although a child still has the descriptor`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("partial", "x")
    let copy: Int32
    do {
      let file = try LockedFile(path, for: .writing)
      // As a child has it that is between `fork` and `exec`.
      copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    }
    defer { close(copy) }
    try #require(copy >= 0)
    let again = try LockedFile(path, for: .writing)
    again.unlock()
  }
}
