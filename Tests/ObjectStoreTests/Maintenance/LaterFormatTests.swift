import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Stores whose storage format a later version has changed.
@Suite struct LaterFormatTests {
  private let damaged: DamagedStore

  init() throws {
    damaged = try DamagedStore()
    try damaged.edit("store", .bytes) { tx, table in
      try tx.put([2, 0, 0, 0].span, for: Array("format".utf8).span, in: table)
    }
  }

  @Test(
    arguments: [
      "open", "open and compact", "verify", "repair", "repair in place", "compact",
      "rebuild indexes", "import",
    ]
  )
  func `an operation is refused and changes nothing`(operation: String) throws {
    let (path, folder) = (damaged.path, damaged.folder)
    let file = URL(filePath: path + "/data.mdb")
    let before = try Data(contentsOf: file)
    let error = #expect(throws: StoreError.self) {
      switch operation {
      case "open": _ = try Store(at: path, models: [Ticket.self])
      case "open and compact":
        let rule = CompactionRule(minimumFileSize: 0, minimumFreeFraction: 0)
        _ = try Store(at: path, models: [], options: StoreOptions(compaction: rule))
      case "verify": _ = try Store.verify(at: path)
      case "repair": _ = try Store.repair(at: path, into: folder.path("repaired"))
      case "repair in place": _ = try Store.repairInPlace(at: path)
      case "compact": try Store.compact(at: path)
      case "rebuild indexes": _ = try Store.rebuildIndexes(at: path)
      default: _ = try Store.openWithoutModels(path)
      }
    }
    #expect(error?.code == .tooNew)
    #expect(error?.message.contains("storage format 2") == true)
    #expect(try Data(contentsOf: file) == before)
    let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(files == ["changes", "data.mdb", "lock.mdb"])
  }
}
