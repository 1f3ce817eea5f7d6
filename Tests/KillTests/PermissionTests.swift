import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

#if os(Linux)
  /// The program run as another user.
  ///
  /// Only root can change the user.
  @Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "running as another user needs root")
  )
  struct PermissionTests {
    @Test(arguments: [["list"], ["add", "http://127.0.0.1:1/a"], ["run", "--until-idle"]])
    func `another user's store is refused with exit code 77`(arguments: [String]) async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "permission-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let store = try RecordStore(at: "\(folder)/store")
      try store.addNow([DownloadRequest(url: "http://127.0.0.1:1/mine")])
      // Other users may have no access to the build folder or its parents.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      let tool = "\(folder)/dlstore"
      // Another process makes the copy. Processes started by other tests would inherit a file
      // descriptor of this one, and a file that is open for writing cannot be executed.
      let copy = try BuiltProcess(
        program: "/bin/cp",
        [BuiltProcess.program("dlstore").path, tool],
        in: "/"
      )
      #expect(try await copy.exitCode() == 0)
      let process = try BuiltProcess(
        program: "/usr/bin/setpriv",
        ["--reuid=65534", "--clear-groups", tool, "--store", "\(folder)/store"] + arguments,
        in: "/",
        environment: ["DLSTORE_CONFIG": ""]
      )
      #expect(try await process.exitCode() == 77)
      #expect(try store.records(DownloadRecord.all).map(\.url) == ["http://127.0.0.1:1/mine"])
    }
  }
#endif
