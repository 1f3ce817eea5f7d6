import DownloadStore
import Foundation
import SystemInterface
import TestSupport
import Testing

/// The owners of files that root replaces.
@Suite struct FolderOwnerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func owner(_ path: String) -> [uid_t]? {
    var status = stat()
    return lstat(path, &status) == 0 ? [status.st_uid, status.st_gid] : nil
  }

  @Test(.enabled(if: geteuid() == 0, "changing the owner of a file needs root"))
  func `a file that root renames over another one gets its owner`() throws {
    let (new, old) = (try folder.makeFile("new", "new"), try folder.makeFile("old", "old"))
    try #require(unsafe chown(old, 65_533, 65_532) == 0)
    #expect(FolderOwner.rename(new, over: old) == 0)
    #expect(try String(contentsOfFile: old, encoding: .utf8) == "new")
    #expect(owner(old) == [65_533, 65_532])
    #expect(FolderOwner.rename(new, over: old) == ENOENT)
    // The other name may be that of a file which is not to be given away.
    let linked = try folder.makeFile("linked", "linked")
    try FileManager.default.linkItem(atPath: linked, toPath: folder.path("other"))
    #expect(FolderOwner.rename(linked, over: old) == 0)
    #expect(owner(folder.path("other")) == [geteuid(), getegid()])
  }

  @Test(.enabled(if: geteuid() == 0, "changing the owner of a file needs root"))
  func `the copy of a previous version has its owner`() throws {
    let path = try folder.makeFile("a", "a")
    try #require(unsafe chown(path, 65_533, 65_532) == 0)
    let identity = try #require(FileIdentity(ofFileAt: path))
    let version = KeptVersion(number: 1, filename: "a.~1~", identity: identity)
    #expect(version.copy(path, to: folder.path("copy")) == 0)
    #expect(owner(folder.path("copy")) == [65_533, 65_532])
  }
}
