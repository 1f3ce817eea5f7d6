internal import Foundation
internal import ObjectStore
internal import TestSupport

/// A fuzzer of the import of JSON lines.
///
/// The first byte of an input selects the import options and whether the store already has objects.
/// The lines follow.
public struct JSONLinesFuzzer: Fuzzer {
  /// The name of the executable.
  public static let name = "json-lines"

  /// The description for `--help`.
  public static let summary = "Imports mutated files of JSON lines into stores."

  private var mutator: JSONLinesMutator
  private let folder: TemporaryFolder

  /// Creates a fuzzer whose mutations are determined by a seed.
  ///
  /// - Throws: A system error if no temporary folder can be created, or ``StoreError``.
  public init(seed: UInt64) throws {
    folder = try TemporaryFolder(inMemory: true)
    let store = try Store(inMemory: [Sample.self, Spot.self])
    try Self.addSamples(to: store)
    mutator = try JSONLinesMutator(seed: seed, samples: store)
  }

  private static func addSamples(to store: Store) throws {
    try store.write(durability: .deferred) { tx in
      for name in ["here", "there"] { try tx.insert(Spot(name)) }
      for sample in Sample.samples { try tx.insert(sample) }
    }
  }

  /// Mutates lines, values or bytes.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    mutator.mutated(input, with: other)
  }

  /// Imports the lines and checks the resulting store.
  ///
  /// - The import succeeds, or fails with a documented code and the number of an existing line.
  /// - The store passes verification in both cases, except for dangling references if the import
  ///   reports them.
  /// - An export of the store can be imported into an empty store, whose export is the same.
  ///
  /// - Throws: ``FuzzViolation``, or an error of verifying, exporting or importing the result.
  public func check(_ input: [UInt8]) throws -> String {
    let choice = Int(input.first ?? 0)
    let lines = input.dropFirst()
    let path = folder.path("store")
    defer { removeAll() }
    let store = try Store(at: path, models: choice & 3 == 0 ? [] : [Sample.self, Spot.self])
    if choice & 2 != 0 { try Self.addSamples(to: store) }
    let file = folder.path("lines")
    try Data(lines).write(to: URL(filePath: file))
    var outcome: String
    do {
      let report = try store.importJSONLines(from: file, options: Self.options(choice))
      outcome = Self.words(report)
      let count = lines.count { $0 == 0x0A } + (lines.last.map { $0 != 0x0A } == true ? 1 : 0)
      guard report.lines == count else {
        throw FuzzViolation("the report counts \(report.lines) of \(count) lines")
      }
    } catch let error as StoreError {
      outcome = try Self.words(error, lineCount: lines.count { $0 == 0x0A } + 1)
    }
    let report = try store.verify(limit: 3)
    // An import that reports dangling references has stored them.
    let isReported = Self.options(choice).danglingReferences == .report
    let expected = isReported ? report.problemCounts[.reference] ?? 0 : 0
    guard report.problemCount == expected else {
      throw FuzzViolation("the store is damaged: \(report.problems)")
    }
    try checkRoundTrip(of: store)
    return outcome
  }

  private func removeAll() {
    for name in ["store", "lines", "export", "copy", "again"] {
      try? FileManager.default.removeItem(atPath: folder.path(name))
    }
  }

  private func checkRoundTrip(of store: Store) throws {
    let (first, second) = (folder.path("export"), folder.path("again"))
    let count = try store.exportJSONLines(to: first)
    let copy = try Store(at: folder.path("copy"), models: [])
    let options = ImportOptions(conflict: .fail, danglingReferences: .report)
    let report = try copy.importJSONLines(from: first, options: options)
    guard report.inserted == count, report.lines == count + 1 else {
      throw FuzzViolation("importing an export of \(count) objects results in \(report)")
    }
    try copy.exportJSONLines(to: second)
    guard try Self.canonicalLines(first) == Self.canonicalLines(second) else {
      throw FuzzViolation("an export changes when it is imported and exported again")
    }
  }

  /// The lines of an export in a form that does not depend on object ids or on the order of fields.
  ///
  /// An import assigns new ids. It may also give the fields of a model another order.
  private static func canonicalLines(_ path: String) throws -> [String] {
    // By scalars: a quotation mark can be one Character with the first scalar of a name.
    let object = /^(\{"model":"(?:[^"\\]|\\.)*","object":)\d+/.matchingSemantics(.unicodeScalar)
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .map { line in
        let line = String(line).replacing(object) { "\($0.1)0" }
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
        if let header = value as? [String: Any], header["models"] != nil {
          return try sortedText(canonical(header))
        }
        // The sorted bytes distinguish numbers that JSONSerialization reads as the same value.
        return try sortedText(value) + String(decoding: line.utf8.sorted(), as: UTF8.self)
      }
  }

  private static func sortedText(_ value: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
    return String(decoding: data, as: UTF8.self)
  }

  /// The description of the models with their fields in the order of their ids.
  ///
  /// It does not say which fields are optional: a field that is nil in some record, although its
  /// model requires a value now, is optional in a store that only has the records.
  private static func canonical(_ header: [String: Any]) -> [String: Any] {
    var header = header
    let models = header["models"] as? [[String: Any]] ?? []
    header["models"] = models.map { model in
      var model = model
      let fields = model["fields"] as? [[String: Any]] ?? []
      model["fields"] = fields.map { $0.filter { $0.key != "optional" } }
        .sorted { ($0["id"] as? Int ?? 0) < ($1["id"] as? Int ?? 0) }
      return model
    }
    return header
  }

  private static func options(_ choice: Int) -> ImportOptions {
    let conflicts: [ImportOptions.ConflictPolicy] = [.replace, .fail, .skip]
    let unknowns: [ImportOptions.UnknownFieldPolicy] = [.add, .refuse, .ignore]
    return ImportOptions(
      conflict: conflicts[(choice >> 2 & 3) % conflicts.count],
      unknown: unknowns[(choice >> 4 & 3) % unknowns.count],
      danglingReferences: choice & 0x40 == 0 ? .refuse : .report,
      linesPerTransaction: choice & 0x80 == 0 ? 1_000 : 2
    )
  }

  private static func words(_ report: ImportReport) -> String {
    let counts = [
      report.inserted, report.updated, report.unchanged, report.skipped, report.ignoredObjects,
      report.ignoredValues, report.danglingReferenceCount, report.unknownModels.count,
      report.unknownFields.count,
    ]
    let words = counts.map { $0 == 0 ? "none" : $0 == 1 ? "one" : "some" }
    return "imported " + words.joined(separator: " ")
  }

  private static func words(_ error: StoreError, lineCount: Int) throws -> String {
    let expected: [StoreError.Code] = [
      .invalidInput, .schemaMismatch, .duplicateKey, .danglingReference, .tooNew,
    ]
    guard expected.contains(error.code) else {
      throw FuzzViolation("an import fails with \(error.code): \(error)")
    }
    guard let cause = error.cause as? JSONLinesError else {
      guard error.code != .invalidInput else {
        throw FuzzViolation("the error does not name a line: \(error)")
      }
      return "\(error.code)"
    }
    guard (1...lineCount).contains(cause.line), (0..<cause.line).contains(cause.storedLines) else {
      throw FuzzViolation("the error names a line that does not exist: \(error)")
    }
    // The rest of the reason contains names and values of the input.
    return "\(error.code) " + cause.reason.split(separator: " ").prefix(6).joined(separator: " ")
  }
}
