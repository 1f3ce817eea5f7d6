import Foundation
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct StartTests {
  private let moment = Date(timeIntervalSince1970: 1_700_000_100)
  private let roots = Roots(paths: [:], standardPath: "/nonexistent", storeID: "s")

  private func inspect(_ record: DownloadRecord) -> Reconciliation {
    Reconciliation(of: record, in: roots, now: moment, policy: ReconcilePolicy().afterWait)
  }

  private func word(_ decision: StartDecision) -> String {
    switch decision {
    case .ignore: "ignore"
    case .requeue: "requeue"
    case .fail: "fail"
    case .check: "check"
    case .execute: "execute"
    case .start: "start"
    case .wait: "wait"
    }
  }

  private func decide(
    _ record: DownloadRecord?,
    origin: String = "https://example.com:443",
    beside transferred: Set<String> = [],
    isPlaced: Bool = true
  ) -> StartDecision {
    var candidate = Scheduler.Candidate(record ?? .sample(), order: 1, volume: 1)
    candidate.origin = origin
    return StartDecision(about: candidate, record, beside: transferred, at: moment) {
      isPlaced ? .success(inspect($0)) : .failure(DownloadFailure(.fileSystem, "no root"))
    }
  }

  @Test func `a download starts if its record still waits for that`() {
    #expect(word(decide(nil)) == "ignore")
    for state in DownloadState.allCases {
      for intent in DownloadIntent.allCases {
        for isHeld in [false, true] {
          var record = DownloadRecord.sample()
          (record.state, record.intent, record.isHeld) = (state, intent, isHeld)
          #expect(word(decide(record)) == (record.mayStart ? "start" : "ignore"))
          #expect(word(decide(record, beside: [record.id])) == "ignore")
          for isPlaced in [false, true] {
            let decision = decide(record, origin: "https://b.example.com:443", isPlaced: isPlaced)
            #expect(word(decision) == (record.mayStart ? "requeue" : "ignore"))
          }
          #expect(word(decide(record, isPlaced: false)) == (record.mayStart ? "fail" : "ignore"))
          record.notBefore = moment.addingTimeInterval(1)
          #expect(word(decide(record)) == (record.mayStart ? "requeue" : "ignore"))
          record.startsImmediately = true
          #expect(word(decide(record)) == (record.mayStart ? "start" : "ignore"))
        }
      }
    }
  }

  /// The start of a record; its partial file is missing.
  private func start(_ change: (inout DownloadRecord) -> Void = { _ in }) throws -> Start {
    var record = DownloadRecord.sample()
    change(&record)
    guard case .start(let start) = decide(record) else {
      throw PartialFile.Failure(code: 0, operation: "the download does not start")
    }
    return start
  }

  @Test(
    arguments: [
      ("missing", "\"1\"", "the partial file is missing"),
      ("shorter", "\"1\"", "another program has truncated the partial file"),
      ("changed", "\"1\"", "another program has changed the partial file"),
      ("linked", "\"1\"", "the partial file has a second name (a hard link)"),
      ("equal", nil, "the server stated no strong entity tag and no date"),
      ("equal", "W/\"1\"", "the server stated no strong entity tag and no date"),
      ("equal", "\"1\"", nil),
    ] as [(String, String?, String?)]
  )
  func `dropped bytes have a reason`(file: String, tag: String?, reason: String?) throws {
    let folder = try TemporaryFolder()
    let roots = Roots(paths: [:], standardPath: folder.path, storeID: "s")
    var record = DownloadRecord.sample()
    record.entityTag = tag
    record.expected = 100
    let path = roots.possibleLayout(of: record).partialPath
    if file != "missing" {
      let length = file == "shorter" ? 6 : 7
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true
      )
      try Data(repeating: 1, count: length).write(to: URL(filePath: path))
      record.notePartial(FileIdentity(ofFileAt: path))
    }
    if file == "linked" { try FileManager.default.linkItem(atPath: path, toPath: path + ".copy") }
    record.received = 7
    // The file has been written since.
    if file == "changed" { record.partialWrittenAt = moment }
    let found = Reconciliation(of: record, in: roots, now: moment)
    #expect(found.loss?.byteCount == reason.map { _ in 7 })
    #expect(found.loss?.reason.message.hasPrefix(reason ?? "-") != false)
  }

  @Test func `a start drops the bytes that it does not continue from, under a new generation`()
    throws
  {
    var start = try start { record in
      record.received = 7
      record.expected = 100
      record.generation = 3
    }
    #expect(start.loss?.byteCount == 7 && start.source == .zero)
    try start.begin(takesResumeData: false, at: moment)
    #expect(start.record.received == 0 && start.record.generation == 4)
    #expect(start.record.state == .running)
    let request = start.request(proving: start.proof(.full))
    #expect(request?.offset == 0 && request?.end == nil && request?.validator == nil)
  }

  @Test(arguments: [[], ["https://b.example.com/a"]])
  func `the first request is for the first missing bytes`(mirrors: [String]) throws {
    let start = try start { record in
      record.received = 7
      record.expected = 100
      record.entityTag = "\"e\""
      record.mirrors = mirrors
    }
    // The bytes that are on disk still count, because the start has not begun.
    #expect(start.range == (7, nil))
    let request = try #require(start.request(proving: start.proof(.full)))
    #expect(request.offset == 7 && request.end == nil)
    // Bytes that another server may have sent are continued if the response states their tag.
    #expect(request.validator == (mirrors.isEmpty ? "\"e\"" : nil))
    #expect(request.url == start.record.url && request.recordID == start.record.id)
    #expect(request.validatorOrigin == "https://example.com:443")
    #expect(request.credentialURL == start.record.url && request.resumeData == nil)
  }
}
