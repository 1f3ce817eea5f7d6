import DownloadStore
import Foundation
import MigrationTesting
import ObjectStore
import Testing

/// Stores that released versions have written; none before the first release.
@Suite(.timeLimit(.minutes(10))) struct PastVersionTests {
  private static let folder = SchemaFolder(
    URL(filePath: #filePath)
      .appending(path: "../../../../Migrations").standardized.path
  )
  /// The numbers of the releases.
  private static let releases = Array(1..<((try? folder.releases().count) ?? 0) + 1)

  private func fixture(_ release: Int, _ count: Int) -> MigrationFixture {
    let states = DownloadState.allCases.map { StoredValue.string($0.rawValue) }
    let intents = DownloadIntent.allCases.map { StoredValue.string($0.rawValue) }
    // Only their own encoding fits these types.
    let identities = ["fileIdentity", "replacedFileIdentity", "partialIdentity"]
    var values = Dictionary(
      uniqueKeysWithValues: identities.map { ("DownloadRecord.\($0)", [StoredValue.null]) }
    )
    values["DownloadRecord.state"] = states
    values["DownloadRecord.intent"] = intents
    let hooks = DownloadHook.allCases.map { StoredValue.string($0.rawValue) }
    values["DownloadRecord.pendingHooks"] = [.set([]), .set([hooks[0]]), .set(hooks)]
    return .generated(from: Self.folder, release: release, count: count, values: values)
  }

  private let tester = MigrationTester(models: RecordStore.models, options: RecordStore.options)

  @Test func `the releases can be read`() throws {
    #expect(try Self.folder.releases().count == Self.releases.count)
  }

  @Test(arguments: releases, [0, 1, 10_000])
  func `a store of a release opens, and every record can be read`(
    release: Int,
    count: Int
  ) throws {
    try tester.checkResult(fixture(release, count)) { store in
      let records = try store.read { try $0.fetch(DownloadRecord.all) }
      #expect(records.count == count)
      #expect(Set(records.map(\.url)).count == count)
    }
  }

  @Test(arguments: releases) func `a store of a release passes every check`(release: Int) throws {
    try tester.check(fixture(release, 100))
  }
}
