import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The configuration file, which others must not be able to write.
struct FileTrustTests {
  private typealias Permissions = FileTrust.Permissions

  private func isTrusted(
    _ file: Permissions,
    in folder: Permissions = Permissions(user: 7, group: 7, mode: 0o755),
    requiresOwner: Bool = true
  ) -> Bool {
    FileTrust.objection(
      to: file,
      in: folder,
      user: 7,
      requiresOwner: requiresOwner,
      isPrivate: { $0 == $1 }
    ) == nil
  }

  @Test func `a file and a folder that only their owner can write are trusted`() {
    for mode in [0o600, 0o644, 0o444, 0o640] as [mode_t] {
      #expect(isTrusted(Permissions(user: 7, group: 9, mode: mode)))
      #expect(isTrusted(Permissions(user: 0, group: 9, mode: mode)))
    }
    // The group of one user, and a folder such as /tmp.
    #expect(isTrusted(Permissions(user: 7, group: 7, mode: 0o664)))
    let sticky = Permissions(user: 0, group: 0, mode: 0o1777)
    #expect(isTrusted(Permissions(user: 7, group: 9, mode: 0o600), in: sticky))
  }

  @Test func `one that others can write is not`() {
    for mode in [0o666, 0o602, 0o664, 0o620] as [mode_t] {
      for requiresOwner in [false, true] {
        #expect(
          !isTrusted(Permissions(user: 7, group: 9, mode: mode), requiresOwner: requiresOwner)
        )
      }
    }
    let file = Permissions(user: 7, group: 7, mode: 0o600)
    #expect(!isTrusted(file, in: Permissions(user: 7, group: 7, mode: 0o777)))
    #expect(!isTrusted(file, in: Permissions(user: 7, group: 9, mode: 0o775)))
  }

  @Test func `a file of another user is trusted only if it is named`() {
    let file = Permissions(user: 8, group: 8, mode: 0o600)
    #expect(!isTrusted(file))
    #expect(isTrusted(file, requiresOwner: false))
  }

  @Test(arguments: ["named", "usual"])
  func `a configuration file that others can write ends the command`(place: String) throws {
    let folder = try TemporaryFolder()
    let home = folder.path("home/dlstore")
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let path = try folder.makeFile("home/dlstore/config.json", #"{"max-attempts": 2}"#)
    let (arguments, environment) =
      place == "named"
      ? (["list", "--config", path], [:]) : (["list"], ["XDG_CONFIG_HOME": folder.path("home")])
    func read() throws -> Configuration {
      try Configuration(arguments, environment: environment)
    }
    #expect(unsafe chmod(path, 0o644) == 0 && chmod(home, 0o755) == 0)
    #expect(try read().file?.path == path)
    #expect(unsafe chmod(path, 0o646) == 0)
    let failure = #expect(throws: CommandFailure.self) { try read() }
    #expect(failure?.status == .permissionDenied && failure?.message?.contains(path) == true)
    #expect(unsafe chmod(path, 0o644) == 0 && chmod(home, 0o757) == 0)
    #expect(throws: CommandFailure.self) { try read() }
  }
}
