import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The words for states, in the output and the filters of the commands.
struct StateWordTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  /// Adds a download in a state.
  private func add(_ name: String, _ state: DownloadState) async throws {
    _ = await dlstore("--store", store, "add", "http://a/\(name)")
    try change("http://a/\(name)") { record in
      record.state = state
      record.nextRetryAt = Date(timeIntervalSince1970: 4_102_444_800)
    }
  }

  private func list(_ arguments: String...) async -> String {
    await dlstore(["--store", store, "list"] + arguments).output
  }

  /// The file names in a state.
  private func names(in states: String) async -> String {
    await list("--state", states, "--format", "csv", "--columns", "name", "--no-header")
      .split(separator: "\n").sorted().joined(separator: " ")
  }

  @Test func `a download that will be retried is not listed as failed`() async throws {
    try await add("soon", .failedRetryable)
    try await add("never", .failedPermanent)
    #expect(await names(in: "retrying") == "soon")
    #expect(await names(in: "failed") == "never")
    #expect(await names(in: "failed,retrying") == "never soon")
    let records = try objects(await list("--format", "json"))
    #expect(records.map { $0["state"] as? String } == ["retrying", "failed"])
    #expect(records[0]["nextRetryAt"] as? String == "2100-01-01T00:00:00.000Z")
    #expect(records[1]["nextRetryAt"] is NSNull)
    let table = await list().split(separator: "\n")
    #expect(table[1].contains(" retrying ") && table[2].contains(" failed "))
    let inspected = await dlstore("--store", store, "inspect", "http://a/soon").output
    #expect(inspected.contains("retrying") && inspected.contains("2100-01-01"))
    let stats = await dlstore("--store", store, "stats").output
    #expect(stats.contains("retrying") && stats.contains("failed"))
    // A purge of what failed keeps what will be retried.
    let purge = await dlstore("--store", store, "purge", "--state", "failed", "--yes")
    #expect(purge.status == .done)
    #expect(await list("--format", "csv", "--columns", "name", "--no-header") == "soon\n")
  }

  @Test func `a download whose engine has ended waits for the next one`() async throws {
    try await add("left", .running)
    try await add("new", .waiting)
    #expect(await names(in: "running") == "")
    #expect(await names(in: "waiting") == "left new")
    let records = try objects(await list("--format", "json"))
    #expect(records.map { $0["state"] as? String } == ["waiting", "waiting"])
    #expect(await list().contains(" waiting (its engine has ended) "))
    #expect(await list("--format", "csv", "--columns", "state").hasSuffix("waiting\nwaiting\n"))
    let inspected = await dlstore("--store", store, "inspect", "http://a/left").output
    #expect(inspected.contains("waiting (its engine has ended)"))
    let stats = await dlstore("--store", store, "stats", "--json").output
    let object = try JSONSerialization.jsonObject(with: Data(stats.utf8)) as? [String: Any]
    let states = (object?["downloads"] as? [String: Any])?["states"] as? [String: [String: Int]]
    #expect(states?["running"]?["records"] == 0 && states?["waiting"]?["records"] == 2)
    let exported = await dlstore("--store", store, "export", "--state", "running").output
    #expect(!exported.contains("http://a/left"))
    #expect(await dlstore("--store", store, "export", "--state", "waiting").output.contains("left"))
  }

  @Test func `beside an engine, a download that is transferred is running`() async throws {
    try await add("left", .running)
    let lock = try EngineLock(storePath: store)
    #expect(await names(in: "running") == "left")
    #expect(await names(in: "waiting") == "")
    #expect(await list().contains(" running "))
    withExtendedLifetime(lock) {}
  }
}
