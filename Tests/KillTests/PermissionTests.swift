import DownloadStore
import Foundation
import ObjectStore
import Testing

#if os(Linux)
  import Glibc

  /// What another user may not do.
  ///
  /// Only root can be another user.
  @Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: geteuid() == 0, "running as another user needs root")
  )
  struct PermissionTests {
    @Test(arguments: [["list"], ["add", "http://127.0.0.1:1/a"], ["run", "--until-idle"]])
    func `somebody else's store is refused with 77`(arguments: [String]) throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "permission-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let store = try DownloadStore(at: "\(folder)/store")
      try store.add([DownloadRequest(url: "http://127.0.0.1:1/mine")])
      // The build folder may be closed to others, and so may be what lies above it.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      let tool = "\(folder)/dlstore"
      // Copied by another process: a descriptor of ours would be inherited by what other tests
      // start meanwhile, and a file that is open for writing cannot be run.
      let copied = try ToolProcess([ToolProcess.executable, tool], command: ["/bin/cp"]).wait()
      #expect(copied.exitCode == 0)
      let end = try ToolProcess(
        ["--store", "\(folder)/store"] + arguments,
        command: ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups", tool]
      )
      .wait()
      #expect(end.exitCode == 77)
      #expect(try store.records(DownloadRecord.all).map(\.url) == ["http://127.0.0.1:1/mine"])
    }
  }
#endif
