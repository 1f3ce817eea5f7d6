package import ObjectStore

/// The problems of a store's file, as text and as JSON.
package struct StoreCheckReport {
  /// The absolute path of the store's folder.
  package let path: String
  /// The result of the verification.
  package let report: VerificationReport

  /// Creates a report.
  package init(path: String, _ report: VerificationReport) {
    self.path = path
    self.report = report
  }

  /// Verifies a store, which is closed on return, and shows the progress.
  ///
  /// - Throws: ``StoreError``.
  package static func verify(
    at path: String,
    immutable: Bool,
    _ status: StatusLine
  ) throws -> VerificationReport {
    try Store.verify(at: path, immutable: immutable) { progress in
      status.show(
        "verifying: \(progress.objects) of \(progress.totalObjects) objects, "
          + "\(progress.problems) problems"
      )
    }
  }

  /// The number of problems of each kind.
  package var counts: [(kind: String, count: Int)] {
    VerificationReport.Problem.Kind.allCases.compactMap { kind in
      report.problemCounts[kind].map { (kind.rawValue, $0) }
    }
  }

  // MARK: Text

  /// One line for each listed problem.
  package var problemLines: [String] {
    report.problems.map { problem in
      let (kind, text) = (problem.kind.rawValue, "\(problem)")
      // Most descriptions of a page begin with its number.
      return text.hasPrefix("\(kind) ") ? text : "\(kind): \(text)"
    }
  }

  /// The last line of the output.
  ///
  /// - Parameters:
  ///   - others: The number of problems of each kind that another check has found.
  ///   - checked: What the other check has compared.
  /// - Returns: What was checked, and the number of problems of each kind.
  package func summary(
    adding others: [(kind: String, count: Int)] = [],
    checked: String? = nil
  ) -> String {
    let objects = report.models.values.reduce(0) { $0 + $1.objects }
    var text = "verified: \(report.pages) pages"
    text += ", \(objects) \(objects == 1 ? "object" : "objects")"
    if let checked { text += ", \(checked)" }
    let counts = counts + others
    let problems = counts.reduce(0) { $0 + $1.count }
    guard problems > 0 else { return text + ": no problems" }
    text += ": \(problems) \(problems == 1 ? "problem" : "problems")"
    return text + " (\(counts.map { "\($0.kind): \($0.count)" }.joined(separator: ", ")))"
  }

  // MARK: JSON

  /// A JSON object.
  ///
  /// - Parameters:
  ///   - otherCount: The number of problems that another check has found.
  ///   - additions: The last members.
  /// - Returns: The object.
  package func json(otherCount: Int = 0, adding additions: [JSONValue.Member]) -> JSONValue {
    let models = JSONValue.object(
      report.models.sorted { $0.key < $1.key }.map { name, counts in
        JSONValue.Member(
          name: name,
          value: [
            "objects": .integer(Int64(counts.objects)),
            "validObjects": .integer(Int64(counts.validObjects)),
            "indexEntries": .integer(Int64(counts.indexEntries)),
          ]
        )
      }
    )
    let problems = JSONValue.array(
      report.problems.map { problem in
        [
          "kind": .string(problem.kind.rawValue), "model": JSONValue(problem.model),
          "object": problem.objectID.map { .number("\($0)") } ?? .null,
          "message": .string(problem.message),
        ]
      }
    )
    let count = report.problemCount + otherCount
    let members: [(String, JSONValue)] = [
      ("path", .string(path)), ("valid", .bool(count == 0)),
      ("problemCount", .integer(Int64(count))), ("pages", .integer(Int64(report.pages))),
      ("models", models), ("problemCounts", Self.json(counts)), ("problems", problems),
    ]
    return .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) } + additions)
  }

  /// Prints the problems, and what a repair did.
  ///
  /// - Throws: As ``Output/report(_:)``.
  package func print(repair: StoreFileRepair?, json: Bool) throws {
    guard !json else {
      let member = JSONValue.Member(name: "repair", value: repair?.json() ?? .null)
      return try Output.current.report(self.json(adding: [member]).prettyText + "\n")
    }
    let count = report.problemCount - report.problems.count
    let lines =
      (repair?.lines ?? []) + (repair?.failureLines ?? []) + problemLines
      + (count > 0 ? ["and \(count) more problems"] : []) + [summary()]
    try Output.current.report(lines.map { TerminalText.safe($0) + "\n" }.joined())
  }

  /// The counts as a JSON object.
  package static func json(_ counts: [(kind: String, count: Int)]) -> JSONValue {
    .object(counts.map { JSONValue.Member(name: $0.kind, value: .integer(Int64($0.count))) })
  }
}
