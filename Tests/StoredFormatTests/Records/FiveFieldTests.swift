import DownloadStore
import Foundation
import MigrationTesting
import ObjectStore
import TestSupport
import Testing

/// A download with the five fields that a downloader keeps at least.
private struct Download: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Download",
    fields: [
      FieldSchema("url", String.self, isPrimaryKey: true),
      FieldSchema("filename", String.self),
      FieldSchema("type", String.self),
      FieldSchema("progress", Double.self),
      FieldSchema("resume", Data.self, isOptional: true),
    ]
  )
  var primaryKey: String

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {}
}

/// The step that moves an application's own downloads to the records of this library.
private let movesDownloads = MigrationStep(
  "move downloads to records",
  to: 2,
  [
    .renameModel("Download", to: "DownloadRecord"),
    .renameField("resume", of: "DownloadRecord", to: "resumeData"),
    .change("DownloadRecord") { old, new in
      let id = RecordIdentity.id(forURL: try old.value("url"))
      let name = SafeFilename.sanitized(try old.value("filename"))
      let isComplete = try old.value("progress", as: Double.self) >= 1
      let date = Date(timeIntervalSinceReferenceDate: 0)
      new.set("id", to: id)
      new.set("root", to: "downloads")
      // Two of the downloads may have the same file name.
      new.set("folder", to: id)
      new.set("filename", to: name)
      new.set("destination", to: "downloads/\(id)/\(name)")
      new.set("state", to: isComplete ? DownloadState.completed : .waiting)
      new.set("intent", to: DownloadIntent.run)
      new.set("tags", to: Set<String>())
      new.set("mirrors", to: [String]())
      new.set("priority", to: Int32(0))
      new.set("received", to: Int64(0))
      new.set("createdAt", to: date)
      new.set("updatedAt", to: date)
      new.set("completedAt", to: isComplete ? date : nil)
      new.removeField("progress")
    },
  ]
)

/// Stores of an application that kept five fields of each download.
@Suite(.timeLimit(.minutes(10))) struct FiveFieldTests {
  private let folder: TemporaryFolder
  private let releases: SchemaFolder

  init() throws {
    folder = try TemporaryFolder()
    releases = SchemaFolder(folder.path("Migrations"))
    _ = try releases.accept([Download.self], version: 1)
    _ = try releases.release([Download.self], version: 1)
  }

  private var tester: MigrationTester {
    var options = RecordStore.options
    options.schemaVersion = 2
    options.migration = Migration(steps: [movesDownloads])
    return MigrationTester(models: RecordStore.models, options: options)
  }

  private func fixture(_ count: Int) -> MigrationFixture {
    let progress = [0, 0.25, 0.999, 1].map { StoredValue.double($0) }
    return .generated(
      from: releases,
      release: 1,
      count: count,
      values: ["Download.progress": progress]
    )
  }

  @Test(arguments: [0, 1, 10_000])
  func `downloads of five fields become records`(count: Int) throws {
    try tester.checkResult(fixture(count)) { store in
      let records = try store.read { try $0.fetch(DownloadRecord.all) }
      #expect(records.count == count)
      #expect(records.allSatisfy { $0.state == ($0.completedAt == nil ? .waiting : .completed) })
      #expect(records.allSatisfy { $0.destination == "downloads/\($0.id)/\($0.filename)" })
      #expect(count < 100 || records.contains { $0.resumeData != nil })
    }
  }

  @Test func `the step passes every check`() throws {
    try tester.check(fixture(200))
  }
}
