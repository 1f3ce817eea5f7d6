import ArgumentParser
import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ResumeData
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ExplainTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `explain shows the rules, actions and result of a case`() async {
    let result = await dlstore(
      "explain",
      "--stored",
      "waiting",
      "--final",
      "mismatch",
      "--partial",
      "longer",
      "--resume-data",
      "corrupt"
    )
    #expect(result.status == .done)
    #expect(
      result.lines == [
        "case       stored waiting, task none, final mismatch, partial longer, resumeData corrupt",
        "met by     background transports",
        "rule       A2: any unfinished state, final foreign",
        "rule       Z2: waiting, no task; plan when its slot comes",
        "plan       P3: resume data corrupt",
        "plan       P8: partial longer",
        "actions    choose the name again at finalise; plan; drop resume data; truncate to the committed bytes",
        "next byte  range",
        "result     waiting",
      ]
    )
  }

  @Test func `explain as JSON has the case, rules, actions, plan and result`() async throws {
    let text = await dlstore(
      "explain",
      "--stored",
      "failedR",
      "--task",
      "running",
      "--no-slot",
      "--json"
    ).output
    let found = try object(text)
    #expect(Set(found.keys) == ["actions", "case", "plan", "result", "rules", "transports"])
    #expect(found["transports"] as? String == "background transports")
    #expect(found["rules"] as? [String] == ["T9"])
    #expect(found["actions"] as? [String] == ["cancel producing resume data"])
    #expect(found["result"] as? String == "failedR")
    #expect(found["plan"] is NSNull)
    #expect(
      found["case"] as? [String: String] == [
        "stored": "failedR", "task": "running", "final": "missing", "partial": "missing",
        "resumeData": "none",
      ]
    )
    let planned = try object(
      await dlstore("explain", "--stored", "running", "--resume-data", "valid", "--json").output
    )
    let plan = try #require(planned["plan"] as? [String: Any])
    #expect(plan["rules"] as? [String] == ["P2"])
    #expect(plan["source"] as? String == "resumeData")
  }

  @Test(arguments: [
    (["--no-slot"], ReconcileCase.Conditions(hasFreeSlot: false)),
    (["--no-resume-data"], ReconcileCase.Conditions(takesResumeData: false)),
    (["--no-validator"], ReconcileCase.Conditions(canContinue: false)),
    (["--not-due"], ReconcileCase.Conditions(isRetryDue: false)),
    (["--pieces"], ReconcileCase.Conditions(hasPieceDigests: true)),
    (["--changed"], ReconcileCase.Conditions(isPartialChanged: true)),
    (["--misplaced"], ReconcileCase.Conditions(continuesBytes: false)),
    (["--with-file"], ReconcileCase.Conditions(removesFile: true)),
    ([], ReconcileCase.Conditions()),
  ])
  func `options set the facts`(options: [String], facts: ReconcileCase.Conditions) throws {
    let command = try DLStoreCommand.parseAsRoot(["explain", "--all"] + options)
    #expect((command as? ExplainCommand)?.values.conditions == facts)
  }

  @Test(arguments: [
    ([], ReconcileCase.Conditions()),
    (
      ["--no-slot", "--no-resume-data"],
      ReconcileCase.Conditions(hasFreeSlot: false, takesResumeData: false)
    ),
  ])
  func `explain --all prints every case as tab-separated text, decided as engines do`(
    options: [String],
    facts: ReconcileCase.Conditions
  ) async throws {
    let result = await dlstore(["explain", "--all", "--format", "tsv"] + options)
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 12_002 && lines.last == "")
    #expect(lines[0] == "stored\ttask\tfinal\tpartial\tresumeData\trules\tactions\tresult\tplan")
    // One expectation for all cases: an expectation costs more than a decision.
    // Resume data without its temporary file counts as corrupt.
    let cases = ReconcileCase.all(facts).flatMap { given -> [(ReconcileCase, String)] in
      var unusable = given
      unusable.resumeData = .corrupt
      return [(given, given.resumeData.rawValue)]
        + (given.resumeData == .stale ? [(unusable, "tempMissing")] : [])
    }
    let wrong = zip(lines.dropFirst(), cases).first { line, found in
      let (given, word) = found
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
      let decision = Reconciler.decide(given)
      let rules = decision.rules.map(\.rawValue).joined(separator: "+")
      let plan = decision.plan.map { $0.rules.map(\.rawValue).joined(separator: "+") }
      let axes = [
        given.stored.rawValue, given.task.rawValue, given.final.rawValue, given.partial.rawValue,
        word,
      ]
      let ends = [decision.result.description, plan ?? "none"]
      return cells.map(String.init)
        != axes + [rules.isEmpty ? "none" : rules, String(cells[6])] + ends || cells[6].isEmpty
    }
    #expect(wrong == nil)
  }

  @Test func `explain --all prints every case as a line of JSON`() async throws {
    let lines = await dlstore("explain", "--all", "--format", "jsonl").lines
    #expect(lines.count == 12_000)
    #expect(try object(lines[0])["rules"] as? [String] == [])
  }

  @Test func `explain decides a stored download in its current state`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let draft = URLSessionResumeData.Draft(
      url: "http://a/1",
      received: 1,
      file: .temporaryName("CFNetworkDownload_abcdef.tmp")
    )
    let resumeData = Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
    try change("http://a/1") { record in
      record.state = .running
      record.resumeData = resumeData
    }
    let id = RecordIdentity.id(forURL: "http://a/1")
    for name in ["http://a/1", id] {
      let found = try object(
        await dlstore("--store", store, "explain", name, "--json").output
      )
      #expect(found["rules"] as? [String] == ["Z1"])
      // This tool's transport does not use resume data.
      #expect((found["plan"] as? [String: Any])?["rules"] as? [String] == ["P6"])
    }
    #expect(await dlstore("--store", store, "explain", "http://a/2").status == .failed)
    #expect(await dlstore("--store", store + "2", "explain", "http://a/1").status == .notFound)
  }

  @Test(arguments: [
    [], ["--stored", "nonsense"], ["--task", "running"], ["--all", "--stored", "waiting"],
    ["--all", "--task", "running"], ["--all", "--json"], ["--all", "--format", "xml"],
    ["--stored", "waiting", "--format", "tsv"], ["--rules", "--all"], ["http://a/1", "--no-slot"],
    ["http://a/1", "--stored", "waiting"], ["--stored", "failed"],
  ])
  func `invalid options are rejected`(options: [String]) async {
    #expect(await dlstore(["explain"] + options).status == .usage)
  }
}
