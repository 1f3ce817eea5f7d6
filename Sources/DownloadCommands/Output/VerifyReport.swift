internal import DownloadStore
internal import ObjectStore

/// The output of `dlstore verify`.
struct VerifyReport {
  var path: String
  var found: StoreExamination
  /// The repairs; `nil` without `--repair`, and if there was nothing to repair.
  var repair: StoreRepair?

  private var storeCounts: [(kind: VerificationReport.Problem.Kind, count: Int)] {
    VerificationReport.Problem.Kind.allCases.compactMap { kind in
      found.store.problemCounts[kind].map { (kind, $0) }
    }
  }

  private var fileCounts: [(kind: FileProblem.Kind, count: Int)] {
    FileProblem.Kind.allCases.compactMap { kind in
      found.files?.problemCounts[kind].map { (kind, $0) }
    }
  }

  private var problemCount: Int { found.store.problemCount + (found.files?.problemCount ?? 0) }

  // MARK: Text

  /// One line per repair and problem, and the counts.
  var text: String {
    let lines = repairLines + problemLines + [summary]
    return lines.map { TerminalText.safe($0) + "\n" }.joined()
  }

  private var repairLines: [String] {
    guard let repair else { return [] }
    var lines: [String] = []
    if let entries = repair.indexEntries {
      lines.append("repaired: rebuilt the indexes, \(entries) entries")
    }
    if let (report, damagedFile) = repair.salvage {
      let saved = report.models.values.reduce(0) { $0 + $1.saved }
      lines.append("repaired: copied \(saved) objects into a new file")
      lines.append("the damaged file is \(damagedFile); delete it when nothing is missing")
      for (name, model) in report.models.sorted(by: { $0.key < $1.key }) {
        if !model.lost.isEmpty { lines.append("lost: \(model.lost.count) objects of \(name)") }
        if !model.withoutHotFields.isEmpty {
          let count = model.withoutHotFields.count
          lines.append("lost: the hot fields of \(count) objects of \(name)")
        }
      }
      lines += report.skippedObjects.map { skipped in
        "lost: object \(skipped.object.id) of \(skipped.object.model): \(skipped.reason)"
      }
      lines += report.notes.map { "note: \($0)" }
    }
    if let reconciled = repair.reconciled {
      lines.append(
        "repaired: reconciled \(reconciled) active records with their files, deleted "
          + "\(repair.deletedOrphans) orphans"
      )
    }
    return lines + repair.failures.map { "not repaired: \($0)" }
  }

  private var problemLines: [String] {
    let store = found.store.problems.map { "\($0.kind.rawValue): \($0)" }
    let files = (found.files?.problems ?? []).map { problem in
      let place = problem.path.map { "\($0): " } ?? ""
      return "\(problem.kind.rawValue): \(problem.recordID): \(place)\(problem.message)"
    }
    let count = store.count + files.count
    let rest = count < problemCount ? ["and \(problemCount - count) more problems"] : []
    let skipped =
      found.skipsFiles ? ["files were not compared with records: the store is damaged"] : []
    return store + files + rest + skipped
  }

  private var summary: String {
    let objects = found.store.models.values.reduce(0) { $0 + $1.objects }
    var text = "verified: \(found.store.pages) pages"
    text += ", \(objects) \(objects == 1 ? "object" : "objects")"
    if let count = found.files?.recordCount {
      text += ", files of \(count) \(count == 1 ? "record" : "records")"
    }
    guard problemCount > 0 else { return text + ": no problems" }
    let counts =
      storeCounts.map { "\($0.kind.rawValue) \($0.count)" }
      + fileCounts.map { "\($0.kind.rawValue) \($0.count)" }
    text += ": \(problemCount) \(problemCount == 1 ? "problem" : "problems")"
    return text + " (\(counts.joined(separator: ", ")))"
  }

  // MARK: JSON

  /// One object, with the keys that `docs/cli.md` lists.
  var json: JSONValue {
    [
      "path": .string(path), "valid": .bool(found.isValid),
      "problemCount": .integer(Int64(problemCount)), "pages": .integer(Int64(found.store.pages)),
      "models": .object(
        found.store.models.sorted { $0.key < $1.key }.map { name, counts in
          JSONValue.Member(
            name: name,
            value: [
              "objects": .integer(Int64(counts.objects)),
              "validObjects": .integer(Int64(counts.validObjects)),
              "indexEntries": .integer(Int64(counts.indexEntries)),
            ]
          )
        }
      ),
      "problemCounts": .object(
        storeCounts.map {
          JSONValue.Member(name: $0.kind.rawValue, value: .integer(Int64($0.count)))
        }
      ),
      "problems": .array(
        found.store.problems.map { problem in
          [
            "kind": .string(problem.kind.rawValue), "model": JSONValue(problem.model),
            "object": problem.objectID.map { .number("\($0)") } ?? .null,
            "message": .string(problem.message),
          ]
        }
      ),
      "files": found.files.map(files) ?? .null, "repair": repair.map(Self.json) ?? .null,
    ]
  }

  private func files(_ files: FileReport) -> JSONValue {
    [
      "records": .integer(Int64(files.recordCount)),
      "problemCounts": .object(
        fileCounts.map {
          JSONValue.Member(name: $0.kind.rawValue, value: .integer(Int64($0.count)))
        }
      ),
      "problems": .array(
        files.problems.map { problem in
          [
            "kind": .string(problem.kind.rawValue), "id": .string(problem.recordID),
            "displayURL": JSONValue(problem.url.map(Redaction.url)),
            "path": JSONValue(problem.path), "message": .string(problem.message),
          ]
        }
      ),
    ]
  }

  private static func json(_ repair: StoreRepair) -> JSONValue {
    [
      "indexEntries": JSONValue(repair.indexEntries.map { Int64($0) }),
      "damagedFile": JSONValue(repair.salvage?.damagedFile),
      "models": repair.salvage.map { models($0.report) } ?? .null,
      "notes": .array((repair.salvage?.report.notes ?? []).map(JSONValue.string)),
      "reconciled": JSONValue(repair.reconciled.map { Int64($0) }),
      "deletedOrphans": .integer(Int64(repair.deletedOrphans)),
      "failures": .array(repair.failures.map(JSONValue.string)),
    ]
  }

  private static func models(_ report: RepairReport) -> JSONValue {
    .object(
      report.models.sorted { $0.key < $1.key }.map { name, model in
        let skipped = report.skippedObjects.count { $0.object.model == name }
        return JSONValue.Member(
          name: name,
          value: [
            "saved": .integer(Int64(model.saved)), "lost": .integer(Int64(model.lost.count)),
            "withoutHotFields": .integer(Int64(model.withoutHotFields.count)),
            "skipped": .integer(Int64(skipped)),
          ]
        )
      }
    )
  }
}
