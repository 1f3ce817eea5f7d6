import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Limits and times that are stored with a download.
@Suite(.timeLimit(.minutes(10)))
struct TransferOptionTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func list() async throws -> [String: Any] {
    try #require(
      try objects(await dlstore("--store", store, "list", "--format", "json").output).first
    )
  }

  @Test func `add stores the limit and the time, set changes and removes them`() async throws {
    let url = "http://h/a"
    let added = await dlstore(
      "--store",
      store,
      "add",
      url,
      "--limit-rate-per-download",
      "500K",
      "--not-before",
      "2100-01-31T08:00:00Z",
      "--connections-per-download",
      "6"
    )
    #expect(added.status == .done, "\(added.messages)")
    var shown = try await list()
    #expect(shown["limitRate"] as? Int == 512_000)
    #expect(shown["notBefore"] as? String == "2100-01-31T08:00:00.000Z")
    #expect(shown["connections"] as? Int == 6)
    let inspected = await dlstore("--store", store, "inspect", url).output
    #expect(inspected.contains("500 KiB/s") && inspected.contains("at most 6"))
    #expect(
      inspected.contains("  not before 2100-01-31T08:00:00.000Z"),
      "\(inspected)"
    )
    let csv = await dlstore("--store", store, "list", "--format", "csv").output
    #expect(
      csv.contains(
        "limitRate,notBefore,connections,nextRetryAt,keys,refreshEvery,nextRefreshAt,keepVersions\n"
      )
    )
    #expect(csv.contains(",512000,2100-"))
    let changed = await dlstore(
      "--store",
      store,
      "set",
      url,
      "--limit-rate-per-download",
      "2M",
      "--not-before",
      "none",
      "--connections-per-download",
      "2"
    )
    #expect(changed.status == .done, "\(changed.messages)")
    shown = try await list()
    #expect(shown["limitRate"] as? Int == 2 << 20 && shown["notBefore"] is NSNull)
    #expect(shown["connections"] as? Int == 2)
    _ = await dlstore("--store", store, "set", url, "--type", "image")
    #expect(try await list()["limitRate"] as? Int == 2 << 20, "other options leave the limit")
    _ = await dlstore("--store", store, "set", url, "--limit-rate-per-download", "none")
    #expect(try await list()["limitRate"] is NSNull)
    _ = await dlstore("--store", store, "set", url, "--connections-per-download", "none")
    #expect(try await list()["connections"] is NSNull)
  }

  @Test func `add stores the time between refreshes, set changes and removes it`() async throws {
    let url = "http://h/a"
    let added = await dlstore("--store", store, "add", url, "--refresh-every", "1d12h")
    #expect(added.status == .done, "\(added.messages)")
    #expect(try await list()["refreshEvery"] as? Int == 129_600)
    #expect(try await list()["nextRefreshAt"] is NSNull)
    #expect(
      await dlstore("--store", store, "inspect", url).output.contains("refreshed     every 1d12h")
    )
    // A known download keeps it, unless another one is given.
    _ = await dlstore("--store", store, "add", url)
    #expect(try await list()["refreshEvery"] as? Int == 129_600)
    let known = await dlstore("--store", store, "add", url, "--refresh-every", "60")
    #expect(known.messages.contains("refresh period"), "\(known.messages)")
    #expect(try await list()["refreshEvery"] as? Int == 60)
    _ = await dlstore("--store", store, "set", url, "--refresh-every", "none")
    #expect(try await list()["refreshEvery"] is NSNull)
  }

  @Test func `add and set say that a kept file is not refreshed`() async throws {
    try folder.makeFile("store/files/a", "theirs")
    let words = ["http://h/a", "--if-exists", "keep", "--refresh-every", "1d"]
    let added = await dlstore(["--store", store, "add"] + words)
    let reason = "its file was not downloaded by this store"
    #expect(
      added.messages.contains("/files is kept and not downloaded, and not refreshed: \(reason)")
    )
    let changed = await dlstore("--store", store, "set", "a", "--refresh-every", "2d")
    #expect(changed.status == .done)
    #expect(changed.messages.contains("not refreshed: a: \(reason)"))
    let removed = await dlstore("--store", store, "set", "a", "--refresh-every", "none")
    #expect(removed.messages.isEmpty, "\(removed.messages)")
  }

  @Test(arguments: ["59s", "500ms", "366d", "never", "0"])
  func `a time between refreshes of less than a minute or more than a year is a usage error`(
    text: String
  ) async throws {
    for command in ["add", "get", "set"] {
      let result = await dlstore("--store", store, command, "http://h/a", "--refresh-every", text)
      #expect(result.status == .usage)
      #expect(result.messages.contains("'\(text)' is not a duration from 1m to 365d"))
    }
  }

  @Test func `add stores the number of versions, set changes and removes it`() async throws {
    let url = "http://h/a"
    _ = await dlstore("--store", store, "add", url, "--keep-versions", "3")
    #expect(try await list()["keepVersions"] as? Int == 3)
    let inspected = await dlstore("--store", store, "inspect", url).output
    #expect(inspected.contains("the newest 3 previous"), "\(inspected)")
    _ = await dlstore("--store", store, "set", url, "--keep-versions", "100")
    #expect(try await list()["keepVersions"] as? Int == 100)
    _ = await dlstore("--store", store, "set", url, "--keep-versions", "none")
    #expect(try await list()["keepVersions"] is NSNull)
    for text in ["0", "101", "-1", "x"] {
      for command in ["add", "get", "set", "refresh"] {
        let option = "--keep-versions=\(text)"
        let result = await dlstore("--store", store, command, url, option)
        #expect(result.status == .usage)
        #expect(result.messages.contains("'\(text)' is not a number of versions from 1 to 100"))
      }
    }
  }

  @Test func `get says until when it waits`() async throws {
    let arguments = ["get", "http://h.invalid/q", "--not-before", "2100-01-31"]
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    try await process.message("q waits until 2100-01-3")
    process.send(SIGINT)
    #expect(try await process.status() == 130)
    let id = try RecordStore(at: store, access: .readOnly).record(matching: "q").id
    let text = " (--not-before); 'dlstore set \(id) --not-before none' starts it now\n"
    #expect(process.messages.contains(text), "\(process.messages)")
  }

  @Test func `resume --now removes the time`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/a", "--not-before", "2100-01-31")
    let resumed = await dlstore("--store", store, "resume", "--now", "http://h/a")
    #expect(resumed.status == .done)
    #expect(try await list()["notBefore"] is NSNull)
  }

  @Test(
    arguments: [
      ["--limit-rate-per-download", "0K"], ["--limit-rate-per-download", "fast"],
      ["--not-before", "soon"], ["--connections-per-download", "0"],
    ]
  )
  func `invalid values are usage errors`(arguments: [String]) async {
    #expect(await dlstore(["--store", store, "add", "http://h/a"] + arguments).status == .usage)
    #expect(await dlstore(["--store", store, "set", "http://h/a"] + arguments).status == .usage)
  }
}
