import DownloadStore
import Foundation
import MigrationTesting
import ObjectStore
import ObjectStoreMigration
import Testing

/// Stores that earlier versions have written.
@Suite(.timeLimit(.minutes(10))) struct PastVersionTests {
  /// A schema of the past.
  enum Past: String, CaseIterable, Sendable {
    /// The first record that had everything the engine needs.
    case firstRecord
    /// The release before files were downloaded over several connections.
    case beforeConnections

    fileprivate var folder: SchemaFolder {
      let tests = URL(filePath: #filePath).deletingLastPathComponent()
      switch self {
      case .firstRecord:
        return SchemaFolder(tests.appending(path: "Fixtures/FirstRecord").path)
      case .beforeConnections:
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        return SchemaFolder(root.appending(path: "Migrations").path)
      }
    }

    fileprivate func fixture(_ count: Int) -> MigrationFixture {
      let states = DownloadState.allCases.map { StoredValue.string($0.rawValue) }
      let intents = DownloadIntent.allCases.map { StoredValue.string($0.rawValue) }
      // The names of fields in both schemas; only their own encoding fits these types.
      let identities = ["stamp", "replacedStamp", "fileIdentity", "replacedFileIdentity"]
      var values = Dictionary(
        uniqueKeysWithValues: identities.map { ("DownloadRecord.\($0)", [StoredValue.null]) }
      )
      values["DownloadRecord.state"] = states
      values["DownloadRecord.intent"] = intents
      let hooks = DownloadHook.allCases.map { StoredValue.string($0.rawValue) }
      values["DownloadRecord.pendingHooks"] = [.set([]), .set([hooks[0]]), .set(hooks)]
      return .generated(from: folder, release: 1, count: count, values: values)
    }
  }

  private let tester = MigrationTester(models: RecordStore.models, options: RecordStore.options)

  @Test(arguments: Past.allCases, [0, 1, 10_000])
  func `a store of a past version opens, and every record can be read`(
    past: Past,
    count: Int
  ) throws {
    try tester.checkResult(past.fixture(count)) { store in
      let records = try store.read { try $0.fetch(DownloadRecord.all) }
      #expect(records.count == count)
      #expect(Set(records.map(\.url)).count == count)
      // Fields that the past did not have.
      #expect(records.allSatisfy { $0.ranges == nil && $0.connections == nil })
    }
  }

  @Test(arguments: Past.allCases)
  func `a store of a past version needs no step`(past: Past) throws {
    try tester.check(past.fixture(100))
  }
}
