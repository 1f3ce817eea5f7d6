import CommandTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Something else than a file under the name of `data.mdb`.
@Suite(.timeLimit(.minutes(10)))
struct RefusedStoreTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private static let commands = [
    ["list"], ["inspect", "abcd"], ["add", "http://h/a"], ["get", "http://h/a"],
    ["run", "--until-idle"], ["pause", "--all"], ["remove", "abcd"],
    ["set", "abcd", "--type", "x"],
    ["purge", "--orphans", "--yes"], ["reconcile"], ["export"], ["import", "FILE"],
    ["root", "list"], ["limit"], ["limit", "2M"],
    ["stats"], ["verify"], ["verify", "--repair"], ["verify-file", "abcd"], ["cat", "abcd"],
    ["backup", "COPY"],
    ["compact"], ["migrate", "--status"], ["store", "models"],
  ]

  @Test(arguments: ["folder", "dangling link", "link", "pipe"])
  func `every command refuses it with one exit code`(kind: String) async throws {
    let empty = folder.path("empty")
    _ = await dlstore("--store", empty, "add", "http://h/a")
    let exported = await dlstore("--store", empty, "export")
    let file = try folder.makeFile("export.jsonl", exported.output)
    #expect(mkdir(store, 0o700) == 0)
    let data = store + "/data.mdb"
    switch kind {
    case "folder": #expect(mkdir(data, 0o700) == 0)
    case "dangling link": #expect(unsafe symlink("/nowhere", data) == 0)
    case "link": #expect(unsafe symlink(empty + "/data.mdb", data) == 0)
    default: #expect(unsafe mkfifo(data, 0o600) == 0)
    }
    for words in Self.commands {
      let arguments = words.map { word in
        word == "FILE" ? file : word == "COPY" ? folder.path("copy") : word
      }
      let result = await dlstore(["--store", store] + arguments)
      #expect(result.status == .permissionDenied, "\(words): \(result.status) \(result.messages)")
      // The owner of the store would be refused, too.
      #expect(
        result.messages.hasSuffix("\(store): data.mdb is not a regular file\n")
          || result.messages.hasSuffix(
            "\(store): data.mdb is a symbolic link, which is not followed\n"
          ),
        "\(words): \(result.messages)"
      )
    }
    var status = stat()
    #expect(lstat(data, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
  }
}
