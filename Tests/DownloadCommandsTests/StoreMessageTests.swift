import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What people read about stores, folders, names and files that are not as a command needs them.
@Suite(.timeLimit(.minutes(10)))
struct StoreMessageTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func message(_ words: [String], _ status: CommandLineSupport.ExitStatus) async -> String {
    let result = await dlstore(["--store", store] + words)
    #expect(result.status == status, "\(result.messages)")
    return result.messages.trimmingPrefix("dlstore: ").trimmingCharacters(in: .newlines)
  }

  private func message(_ words: String..., status: CommandLineSupport.ExitStatus) async -> String {
    await message(words, status)
  }

  @Test func `a missing store`() async {
    for words in [["list"], ["run", "--until-idle"], ["pause", "--all"]] {
      #expect(
        await message(words, .notFound)
          == "\(store): there is no store here; 'dlstore add URL' creates a store, and --store "
          + "names another one"
      )
    }
  }

  @Test func `an empty data file`() async throws {
    _ = try folder.makeFile("store/data.mdb", "")
    #expect(
      await message("list", status: .notFound)
        == "opening \(store): there is no store, because data.mdb is empty; 'dlstore add URL' "
        + "creates a store, and --store names another one"
    )
  }

  @Test func `a damaged data file`() async throws {
    _ = try folder.makeFile("store/data.mdb", String(repeating: "no store ", count: 2_000))
    #expect(
      await message("list", status: .damaged)
        == "opening \(store): the file is damaged or is not a store; 'dlstore verify' lists the "
        + "damage, and 'dlstore verify --repair' saves what is readable"
    )
  }

  @Test func `a file in the place of a store`() async throws {
    _ = try folder.makeFile("store", "no folder")
    #expect(await message("list", status: .cannotCreate) == "\(store) is not a folder")
  }

  @Test func `a folder that cannot be created`() async {
    let path = "/proc/none/files"
    #expect(
      await message("get", "http://h/x", "--output-folder", path, status: .cannotCreate)
        == "cannot create the folder /proc/none: No such file or directory"
    )
  }

  @Test func `a name that is taken is shown with its folder`() async {
    _ = await dlstore("--store", store, "add", "http://h/a")
    #expect(
      await message("add", "http://h/b", "-o", "a", "--if-exists", "fail", status: .failed)
        == "'\(store)/files/a' is already taken by a download or a file; choose another name"
    )
    _ = await dlstore("--store", store, "add", "http://h/b")
    #expect(
      await message("set", "http://h/b", "--filename", "a", status: .failed)
        == "'a' is already taken by a download or a file in the same folder; choose another name"
    )
  }

  @Test func `an import of another file`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    let junk = try folder.makeFile("junk", "junk")
    let text = await message("import", junk, status: .damaged)
    #expect(text.hasPrefix("cannot import line 1: ") && text.contains("--format aria2"))
    #expect(text.components(separatedBy: "line 1").count == 2, "\(text)")
  }

  @Test func `a backup to a name that exists, or without a parent`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a")
    _ = try folder.makeFile("backup/x", "")
    let path = folder.path("backup")
    #expect(
      await message("backup", path, status: .cannotCreate)
        == "\(path) already exists: choose another name"
    )
    let missing = folder.path("none/backup")
    #expect(
      await message("backup", missing, status: .cannotCreate)
        == "\(missing) cannot be created: its parent is missing"
    )
  }

  @Test func `a purge without a terminal`() async {
    _ = await dlstore("--store", store, "add", "http://h/a")
    #expect(
      await message("purge", "--state", "waiting", status: .usage)
        == "standard input is not a terminal: pass --yes to remove, or --dry-run to preview"
    )
  }

  @Test func `a document on a host that does not exist`() async {
    let url = "http://no-such-host.invalid/x.meta4"
    #expect(
      await message("add", "--metalink", url, status: .unreachable)
        == "cannot fetch \(url): there is no host 'no-such-host.invalid'"
    )
  }
}
