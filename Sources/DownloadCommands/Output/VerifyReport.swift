internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The output of `dlstore verify`.
struct VerifyReport {
  var path: String
  var found: StoreExamination
  /// The repairs; `nil` without `--repair`, and if there was nothing to repair.
  var repair: StoreRepair?

  /// From more on, the number of the files that may be copies is printed instead of a line for each.
  private static let maximumCopies = 3

  private var store: StoreCheckReport { StoreCheckReport(path: path, found.store) }

  private var fileCounts: [(kind: String, count: Int)] {
    FileProblem.Kind.allCases.compactMap { kind in
      found.files?.problemCounts[kind].map { (kind.rawValue, $0) }
    }
  }

  private var fileProblemCount: Int { found.files?.problemCount ?? 0 }

  // MARK: Text

  /// One line per repair and problem, and the counts.
  var text: String {
    let lines = repairLines + problemLines + [summary]
    return lines.map { TerminalText.safe($0) + "\n" }.joined()
  }

  private var repairLines: [String] {
    guard let repair else { return [] }
    var lines = repair.store.lines
    if let reconciled = repair.reconciled {
      lines.append(
        "repaired: reconciled \(reconciled) active records with their files, deleted "
          + "\(repair.deletedOrphans) orphans"
      )
    }
    if let accepted = repair.accepted {
      let count = accepted.acceptedCount
      lines.append("accepted \(count) \(count == 1 ? "file" : "files") with another inode or time")
      lines += accepted.withoutDigest.map { file in
        let compared = file.hasTime ? "size and time agree" : "only the size agrees"
        return "accepted without a digest: \(file.path): \(compared), the contents were not "
          + "compared"
      }
    }
    return lines + repair.store.failureLines
  }

  private var problemLines: [String] {
    let copyCount = found.files?.copyCount ?? 0
    let countedCopies = copyCount > Self.maximumCopies ? copyCount : 0
    let problems = (found.files?.problems ?? []).filter { countedCopies == 0 || !$0.isCopy }
    let files = problems.map { problem in
      let place = problem.path.map { "\($0): " } ?? ""
      return "\(problem.kind.rawValue): \(problem.recordID): \(place)\(problem.message)"
    }
    let lines = store.problemLines + files
    let count = found.store.problemCount + fileProblemCount - countedCopies
    let rest = lines.count < count ? ["and \(count - lines.count) more problems"] : []
    let copies =
      countedCopies > 0
      ? [
        "\(FileProblem.Kind.modified.rawValue): \(countedCopies) files are not the downloaded ones, but "
          + "have their sizes and times, as copies have"
      ] : []
    let skipped =
      found.skipsFiles ? ["files were not compared with records: the store is damaged"] : []
    return lines + rest + copies + skipped + advice
  }

  /// What to do about the problems.
  private var advice: [String] {
    var lines: [String] = []
    if repair == nil, let effect = effectOfRepair {
      lines.append("\(SuggestedCommand.text("verify --repair")) \(effect)")
    }
    lines += (found.files?.emptyRoots ?? []).map(advice)
    if has(.missing, .sizeDiffers) {
      let again = SuggestedCommand.text("verify-file --all --repair")
      lines.append(
        "\(again) downloads missing files again, and changed ones whose checksum is known"
      )
    }
    if found.files?.hasModified == true, repair?.accepted == nil {
      let accept = SuggestedCommand.text("verify --accept")
      let restart = SuggestedCommand.text("restart")
      lines.append(
        "if files were copied to another disk, \(accept) recognizes those with the contents of their "
          + "downloads, and \(restart) downloads any other again"
      )
    }
    return lines
  }

  /// What to do about a root whose files are all missing.
  private func advice(for root: FileReport.EmptyRoot) -> String {
    let found =
      root.fileCount == 1
      ? "the only file below \(root.path) is missing"
      : "all \(root.fileCount) files below \(root.path) are missing"
    let set = SuggestedCommand.text("root set \(ShellWord.quoted(root.name)) FOLDER")
    let accept = SuggestedCommand.text("verify --accept")
    return "\(found): mount its volume; or, if it was moved, \(set) names the new place, and then "
      + "\(accept) recognizes the files"
  }

  private var effectOfRepair: String? {
    switch RepairPlan(for: found.store.problemCounts.keys) {
    case .salvage: "copies what is readable into a new file, and keeps the damaged one"
    case .rebuildIndexes: "rebuilds the indexes from the records"
    case .nothing where has(.partialMissing, .partialShort, .partialLong):
      "corrects the records of unfinished downloads"
    case .nothing: has(.orphan) ? "deletes partial files without a record" : nil
    }
  }

  private func has(_ kinds: FileProblem.Kind...) -> Bool {
    kinds.contains { found.files?.problemCounts[$0] != nil }
  }

  private var summary: String {
    let files = found.files.map { files in
      "files of \(files.recordCount) \(files.recordCount == 1 ? "record" : "records")"
    }
    return store.summary(adding: fileCounts, checked: files)
  }

  // MARK: JSON

  /// One object, with the keys that `docs/cli.md` lists.
  var json: JSONValue {
    store.json(
      otherCount: fileProblemCount,
      adding: [
        .init(name: "files", value: found.files.map(files) ?? .null),
        .init(name: "repair", value: repair.map(Self.json) ?? .null),
      ]
    )
  }

  private func files(_ files: FileReport) -> JSONValue {
    [
      "records": .integer(Int64(files.recordCount)),
      "problemCounts": StoreCheckReport.json(fileCounts),
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
    repair.store.json(adding: [
      .init(name: "reconciled", value: JSONValue(repair.reconciled.map { Int64($0) })),
      .init(name: "deletedOrphans", value: .integer(Int64(repair.deletedOrphans))),
      .init(
        name: "acceptedFiles",
        value: JSONValue(repair.accepted.map { Int64($0.acceptedCount) })
      ),
      .init(
        name: "acceptedWithoutDigest",
        value: repair.accepted.map { .array($0.withoutDigest.map(json)) } ?? .null
      ),
    ])
  }

  private static func json(_ file: AcceptedFiles.WithoutDigest) -> JSONValue {
    ["path": .string(file.path), "compared": .string(file.hasTime ? "sizeAndTime" : "size")]
  }
}
