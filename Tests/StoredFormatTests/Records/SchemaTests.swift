import DownloadStore
import Foundation
import MigrationTesting
import Migrations
import ObjectStore
import Testing

/// The schema of the records against the files in `Migrations`.
@Suite struct SchemaTests {
  private let folder = SchemaFolder(
    URL(filePath: #filePath)
      .appending(path: "../../../../Migrations").standardized.path
  )
  private let version = DownloadMigrations.currentVersion

  @Test func `the lock file describes the models, and nothing prevents a release`() throws {
    try folder.require(RecordStore.models, version: version)
  }

  @Test func `no change since a release loses data or needs a step`() throws {
    let report = try folder.check(RecordStore.models, version: version)
    #expect(report.changes.filter { $0.verdict > .rebuilds } == [])
  }

  @Test func `every field has an id of its own, which does not depend on its name`() throws {
    for model in SchemaDescription(of: RecordStore.models, version: version).models {
      let ids = model.fields.map(\.id)
      #expect(ids.allSatisfy { $0 > 0 && $0 < 1 << 31 }, "\(model.name) has a field without an id")
    }
  }

  @Test func `the versions of releases only grow, up to the current one`() throws {
    let versions = try folder.releases().map(\.schema.version)
    #expect(versions == versions.sorted() && versions.allSatisfy { $0 <= version })
  }
}
