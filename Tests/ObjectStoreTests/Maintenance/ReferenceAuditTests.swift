import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct ReferenceAuditTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(
      at: folder.path("store"),
      models: [Visit<Deny>.self, Visit<Keep>.self, House<Cascade>.self, City.self]
    )
  }

  private func file(_ lines: String...) throws -> String {
    let path = folder.path("lines.jsonl")
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private static func visit(_ id: Int, _ fields: String, _ rule: DeleteRule = .deny) -> String {
    #"{"model":"Visit \#(rule)","fields":{"id":\#(id),\#(fields)}}"#
  }

  private static let city = #"{"model":"City","fields":{"name":"b"}}"#

  @Test(arguments: [1, 2, 1_000])
  func `an import with danglingReferences: .report lists the dangling references`(
    linesPerTransaction: Int
  ) throws {
    let path = try file(
      Self.visit(1, #""one":"b""#),
      Self.visit(2, #""list":["b","x","b"]"#),
      #"{"model":"House cascade","fields":{"id":1,"city":"y"}}"#,
      Self.city,
      Self.visit(3, #""set":["b"],"one":null"#),
      Self.visit(4, #""one":"nowhere""#, .keep),
      Self.visit(5, #""one":"x","set":["z"]"#)
    )
    let report = try store.importJSONLines(
      from: path,
      options: ImportOptions(
        danglingReferences: .report,
        linesPerTransaction: linesPerTransaction
      )
    )
    #expect(report.inserted == 7)
    #expect(report.danglingReferenceCount == 4)
    typealias Dangling = ImportReport.DanglingReference
    #expect(
      report.danglingReferences == [
        Dangling(line: 2, model: "Visit deny", field: "list", target: "City", key: "'x'"),
        Dangling(line: 3, model: "House cascade", field: "city", target: "City", key: "'y'"),
        Dangling(line: 7, model: "Visit deny", field: "one", target: "City", key: "'x'"),
        Dangling(line: 7, model: "Visit deny", field: "set", target: "City", key: "'z'"),
      ]
    )

    let verified = try store.verify()
    #expect(verified.problemCounts == [.reference: 4])
    #expect(verified.models["Visit deny"]?.validObjects == 4)
    #expect(Set(verified.problems.compactMap(\.model)) == ["Visit deny", "House cascade"])
    try store.write { tx in for name in ["x", "y", "z"] { try tx.insert(City(name)) } }
    #expect(try store.verify().isValid)
  }

  /// Expects an import to throw `danglingReference`, and returns the cause.
  private func refusal(_ path: String, linesPerTransaction: Int) -> JSONLinesError? {
    let error = #expect(throws: StoreError.self) {
      try store.importJSONLines(
        from: path,
        options: ImportOptions(linesPerTransaction: linesPerTransaction)
      )
    }
    #expect(error?.code == .danglingReference)
    return error?.cause as? JSONLinesError
  }

  @Test(arguments: [1, 2, 1_000])
  func `an import with a dangling reference stores nothing of its transaction`(
    linesPerTransaction: Int
  ) throws {
    let path = try file(Self.visit(1, #""one":"b""#), Self.visit(2, #""one":"x""#), Self.city)
    let error = refusal(path, linesPerTransaction: linesPerTransaction)
    #expect(error?.line == 2)
    #expect(error?.storedLines == 0)
    #expect(error?.reason.contains("City 'x'") == true)
    #expect(try store.read { try $0.count(City.all) } == 0)
    #expect(try store.read { try $0.count(Visit<Deny>.all) } == 0)

    // The target may come later in the file, or already be in the store.
    let good = try file(Self.visit(1, #""one":"b""#), Self.city)
    let options = ImportOptions(linesPerTransaction: linesPerTransaction)
    #expect(try store.importJSONLines(from: good, options: options).inserted == 2)
    let more = try file(Self.visit(2, #""list":["b"]"#), Self.visit(3, #""one":"x""#, .keep))
    let report = try store.importJSONLines(from: more, options: options)
    #expect(report.inserted == 2)
    #expect(report.danglingReferenceCount == 0)
    #expect(try store.verify().isValid)
  }

  @Test func `transactions before the first line with a dangling reference are stored`() throws {
    let lines = [Self.city, Self.visit(1, #""one":"b""#), Self.visit(2, #""one":"x""#)]
    let more = (10..<20).map { Self.visit($0, #""one":"b""#) }
    let path = folder.path("lines.jsonl")
    try (lines + more).joined(separator: "\n")
      .write(toFile: path, atomically: true, encoding: .utf8)
    let none = refusal(path, linesPerTransaction: .max)
    #expect(none?.line == 3)
    #expect(none?.storedLines == 0)
    #expect(try store.read { try $0.count(City.all) } == 0)

    let some = refusal(path, linesPerTransaction: 1)
    #expect(some?.line == 3)
    #expect(some?.storedLines == 2)
    #expect(try store.read { try $0.count(Visit<Deny>.all) } == 1)
    #expect(try store.verify().isValid)
  }

  /// Imports 1,010 lines, in which each hundred visits precede the city to which they refer.
  @Test(arguments: [(1, 10), (40, 10), (101, 10), (102, 5), (506, 2), (1_010, 1), (Int.max, 1)])
  func `a transaction is extended until its forward references are resolved`(
    linesPerTransaction: Int,
    transactions: Int
  ) throws {
    // Adds the layout of these visits, which takes a commit of its own.
    try store.importJSONLines(from: file(Self.city, Self.visit(-1, #""one":"b""#)))
    let path = folder.path("lines.jsonl")
    let lines = (0..<10).flatMap { group in
      (0..<100).map { Self.visit(group * 100 + $0, #""one":"city \#(group)""#) }
        + [#"{"model":"City","fields":{"name":"city \#(group)"}}"#]
    }
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    let before = try store.commitNumber()
    let options = ImportOptions(linesPerTransaction: linesPerTransaction)
    #expect(try store.importJSONLines(from: path, options: options).inserted == 1_010)
    #expect(try store.commitNumber() == before + UInt64(transactions))
    #expect(try store.verify().isValid)
  }

  @Test func `a reference that a later line replaces is not checked`() throws {
    let path = try file(
      Self.visit(1, #""one":"x""#),
      Self.city,
      Self.visit(1, #""one":"b""#),
      Self.visit(2, #""one":"b""#)
    )
    let report = try store.importJSONLines(
      from: path,
      options: ImportOptions(linesPerTransaction: 1)
    )
    #expect(report.inserted == 3)
    #expect(report.updated == 1)
    #expect(try store.verify().isValid)
  }

  @Test func `skipped objects are not checked for dangling references`() throws {
    try store.write { tx in try tx.insert(Visit<Deny>(id: 1)) }
    let options = ImportOptions(conflict: .skip)
    let report = try store.importJSONLines(
      from: file(Self.visit(1, #""one":"x""#)),
      options: options
    )
    #expect(report.skipped == 1)
    #expect(report.danglingReferenceCount == 0)
  }

  @Test func `at most 100 dangling references are listed, and all are counted`() throws {
    let lines = (1...150).map { Self.visit($0, #""one":"x""#) }.joined(separator: "\n")
    let options = ImportOptions(danglingReferences: .report)
    let report = try store.importJSONLines(from: file(lines), options: options)
    #expect(report.danglingReferenceCount == 150)
    #expect(report.danglingReferences.map(\.line) == Array(1...100))
  }

  @Test func `importing into a store of a later schema version throws tooNew`() throws {
    let path = try file(Self.city)
    let options = StoreOptions(schemaVersion: 2)
    let later = try Store(at: store.path, models: [City.self], options: options)
    let error = #expect(throws: StoreError.self) { try store.importJSONLines(from: path) }
    #expect(error?.code == .tooNew)
    #expect(try later.read { try $0.count(City.all) } == 0)
    #expect(try later.importJSONLines(from: file(Self.city)).inserted == 1)
  }

  @Test func `verification reports a reference rule with an unknown target`() throws {
    let rule = ReferenceRule(
      model: "House cascade",
      fieldID: FieldSchema.id(forName: "city"),
      target: "Nowhere",
      onDelete: .cascade
    )
    let environment = store.environment
    var transaction = try environment.beginWrite()
    let table = try transaction.createDatabase("store")
    let key = Array(MetadataKey.reference(rule.model, rule.fieldID).utf8)
    try transaction.put(rule.encoded.span, for: key.span, in: table)
    try transaction.commit()
    let report = try store.verify()
    #expect(report.problemCounts == [.description: 1])
    #expect(report.problems.first?.model == "House cascade")
  }
}
