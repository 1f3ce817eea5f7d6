import CommandTestSupport
import DownloadReports
import DownloadStore
import DownloadSync
import DownloadURLSession
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ReconcileCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let url = "http://me:hush@a/x"

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  /// Leaves a record and a partial file as a kill does: 40 of 100 bytes committed, 70 on disk.
  private func interrupted() async throws -> String {
    _ = await dlstore("--store", store, "add", url)
    try change(url) { record in
      record.state = .running
      record.received = 40
      record.expected = 100
      record.entityTag = "\"1\""
    }
    let downloads = try RecordStore(at: store)
    let layout = try downloads.roots().layout(of: try downloads.record(matching: url))
    try makeFile(layout.partialPath, 70)
    return layout.partialPath
  }

  private func makeFile(_ path: String, _ size: Int, age: Double = 0) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(count: size).write(to: url)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)],
      ofItemAtPath: path
    )
  }

  /// Returns the path of a partial file of the store.
  private func partialPath(_ recordID: String) throws -> String {
    let name = PartialName(recordID: recordID, storeID: try RecordStore(at: store).id)
    return "\(store)/files/\(name.text)"
  }

  private func size(_ path: String) -> Int64? { FileIdentity(ofFileAt: path)?.size }

  @Test func `reconcile without --apply prints its actions and performs none`() async throws {
    let partial = try await interrupted()
    let id = RecordIdentity.id(forURL: url)
    let sentences = await dlstore("--store", store, "reconcile")
    #expect(sentences.status == .done && sentences.lines.count == 3)
    let sentence = "cuts the partial file to the committed bytes, then continues after 40 bytes"
    #expect(sentences.lines[1].contains("\(id)  waiting  \(sentence)  x"), "\(sentences.output)")
    let result = await dlstore("--store", store, "reconcile", "--verbose")
    #expect(result.status == .done)
    #expect(result.lines.count == 3)
    let words = result.lines[1].split(separator: " ", omittingEmptySubsequences: true)
    #expect(words.prefix(3) == [Substring(id), "running", "Z1+P8"])
    #expect(result.lines[1].contains("waiting at the head of its priority"))
    #expect(result.lines[1].contains("plan; truncate to the committed bytes; range"))
    #expect(result.lines[2] == "to reconcile: 1 active record, 0 orphans")
    #expect(size(partial) == 70)
    #expect(try RecordStore(at: store).record(matching: url).state == .running)
  }

  @Test func `reconcile --apply performs the actions that need no network`() async throws {
    let partial = try await interrupted()
    let orphan = try partialPath("0123456789abcdef")
    let young = try partialPath("0123456789abcdee")
    try makeFile(orphan, 7, age: 3_600)
    // Young however long the test takes.
    try makeFile(young, 7, age: -3_600)
    let planned = await dlstore("--store", store, "reconcile", "-v")
    #expect(planned.lines.contains { $0.contains("N4") && $0.hasSuffix(orphan) })
    // The engine reads only records.
    let sentence = "leaves the file: 'reconcile --apply' and 'purge --orphans' delete it"
    let sentences = await dlstore("--store", store, "reconcile")
    #expect(sentences.lines.contains { $0.contains(sentence) && $0.hasSuffix(orphan) })
    let result = await dlstore("--store", store, "reconcile", "--apply")
    #expect(result.status == .done)
    #expect(result.lines.last == "reconciled: 1 active record, 1 orphan")
    #expect(size(partial) == 40)
    #expect(size(orphan) == nil)
    #expect(size(young) == 7)
    #expect(try RecordStore(at: store).record(matching: url).state == .waiting)
    let again = await dlstore("--store", store, "reconcile", "--apply", "-v")
    #expect(again.lines.last == "reconciled: 1 active record, 0 orphans")
    #expect(again.output.contains("Z2+P7"))
  }

  @Test func `every decision of the rule table has a sentence`() {
    for action in ReconcileAction.allCases where action != .plan && action != .planFromPartial {
      #expect(DecisionSentence.text(of: action)?.isEmpty == false)
    }
    for reconcileCase in ReconcileCase.all() {
      let decision = Reconciler.decide(reconcileCase)
      let text = DecisionSentence.text(decision, received: 5)
      // A decision that does something says so.
      #expect(text.hasPrefix("does nothing") == decision.steps.isEmpty, "\(decision): \(text)")
    }
  }

  @Test func `inspect says what happens next, and -v by which rule`() async throws {
    _ = try await interrupted()
    let plain = await dlstore("--store", store, "inspect", url)
    #expect(plain.output.contains("the engine cuts the partial file to the committed bytes, then"))
    #expect(!plain.output.contains("Z1+P8"))
    let verbose = await dlstore("--store", store, "inspect", url, "-v")
    #expect(verbose.output.contains("Z1+P8: plan; truncate to the committed bytes; range"))
  }

  @Test func `reconcile as JSON has records and orphans, and redacts secrets`() async throws {
    _ = try await interrupted()
    let orphan = try partialPath("0123456789abcdef")
    try makeFile(orphan, 7, age: 3_600)
    let text = await dlstore("--store", store, "reconcile", "--json").output
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    )
    #expect(report["applied"] as? Bool == false)
    let record = try #require((report["records"] as? [[String: Any]])?.first)
    #expect(
      Set(record.keys) == [
        "actions", "case", "displayURL", "filename", "id", "plan", "result", "rules", "url",
      ]
    )
    #expect(record["rules"] as? [String] == ["Z1"])
    #expect(
      (record["plan"] as? [String: Any])?["actions"] as? [String] == [
        "truncate to the committed bytes"
      ]
    )
    #expect((record["displayURL"] as? String)?.contains("hush") == false)
    let file = try #require((report["orphans"] as? [[String: Any]])?.first)
    #expect(file["rule"] as? String == "N4")
    #expect(file["byteCount"] as? Int == 7)
    #expect(file["path"] as? String == orphan)
  }

  @Test func `failures during reconciliation are reported`() async throws {
    _ = try await interrupted()
    try change(url) { $0.unresolvedStarts = 90 }
    let result = await dlstore("--store", store, "reconcile", "--apply")
    #expect(result.status == .failed)
    #expect(result.messages.contains("failed: the process crashed"))
    #expect(!result.messages.contains("hush"))
    #expect(try RecordStore(at: store).record(matching: url).state == .failedPermanent)
  }

  @Test func `partial files of a store below the root, and those in use, are kept`() async throws {
    _ = try await interrupted()
    let other = try RecordStore(at: "\(store)/files/other")
    let added = try other.addNow([DownloadRequest(url: "http://b/theirs")])
    let theirs = try other.roots().layout(of: added[0].record).partialPath
    let busy = try partialPath("0123456789abcdef")
    let unnamed = "\(store)/files/0123456789abcdee.dlstore-part"
    for path in [theirs, busy, unnamed] { try makeFile(path, 7, age: 3_600) }
    let lock = try LockedFile(busy, for: .writing)
    let result = await dlstore("--store", store, "reconcile", "--apply")
    #expect(result.status == .failed)
    #expect(result.messages.contains("kept \(busy): another process is using it"))
    #expect(!result.messages.contains(theirs) && !result.output.contains(theirs))
    #expect([theirs, busy, unnamed].map(size) == [7, 7, 7])
    lock.unlock()
    let purge = await dlstore("--store", store, "purge", "--orphans", "--yes")
    #expect(purge.status == .done)
    #expect(purge.lines.last == "removed: 0 records, 1 file, 7 bytes")
    #expect([theirs, busy, unnamed].map(size) == [7, nil, 7])
  }

  @Test func `a cancelled download whose partial file is in use is reported`() async throws {
    let path = try await interrupted()
    try change(url) { $0.intent = .cancel }
    let lock = try LockedFile(path, for: .writing)
    let result = await dlstore("--store", store, "reconcile", "--apply")
    #expect(result.status == .failed)
    #expect(result.messages.contains("another process is using \(path)"))
    #expect(size(path) == 70)
    let remove = await dlstore("--store", store, "remove", url)
    #expect(remove.messages.contains("another process is using \(path)"))
    #expect(size(path) == 70)
    lock.unlock()
    #expect(await dlstore("--store", store, "reconcile", "--apply").status == .done)
    #expect(size(path) == nil)
  }

  @Test func `reconcile --apply is refused while an engine runs`() async throws {
    let partial = try await interrupted()
    let engine = try DownloadEngine(
      store: try RecordStore(at: store),
      transport: URLSessionTransport()
    )
    #expect(await dlstore("--store", store, "reconcile", "--apply").status == .engineRuns)
    #expect(await dlstore("--store", store, "reconcile").status == .done)
    #expect(size(partial) == 70)
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: [[], ["--apply"]]) func `reconcile creates no store`(options: [String]) async {
    let result = await dlstore(["--store", store, "reconcile"] + options)
    #expect(result.status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a store without active downloads has nothing to reconcile`() async {
    _ = await dlstore("--store", store, "add", "--paused", "http://a/1")
    let result = await dlstore("--store", store, "reconcile")
    #expect(result.lines == ["nothing to do: no unfinished downloads and no leftover files"])
  }
}
