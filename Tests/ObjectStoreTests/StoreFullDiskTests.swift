import Foundation
import ObjectStore
import TestSupport
import Testing

#if os(Linux)
  @Suite(.enabled(if: SmallDisk.isAvailable, "needs the right to mount a file system"))
  struct StoreFullDiskTests {
    @Test func `a write to a full disk throws diskFull, and succeeds after space is freed`() throws
    {
      let disk = try #require(SmallDisk(kilobytes: 4_096))
      let store = try Store(at: disk.path + "/store", models: [Everything.self])
      let filler = disk.path + "/filler"
      try Data(count: 2 << 20).write(to: URL(filePath: filler))

      var written: [Int64] = []
      var failure: StoreError?
      while failure == nil {
        let id = Int64(written.count)
        do {
          let text = String(repeating: "x", count: 50_000)
          try store.write { try $0.insert(Everything(id: id, text: text)) }
          written.append(id)
        } catch let error as StoreError {
          failure = error
        }
      }
      #expect(failure?.code == .diskFull)
      #expect(written.count > 10)
      #expect(try store.read { try $0.fetch(Everything.all).map(\.id) } == written)
      try store.checkPages()

      try FileManager.default.removeItem(atPath: filler)
      try store.write { try $0.insert(Everything(id: -1, text: "again")) }
      #expect(try store.read { try $0.find(Everything.self, key: -1)?.text } == "again")
      #expect(try store.read { try $0.count(Everything.all) } == written.count + 1)
    }

    @Test func `creating a store on a full disk throws diskFull`() async throws {
      let disk = try #require(SmallDisk(kilobytes: 1_024))
      await #expect(processExitsWith: .success) { [path = disk.path as String] in
        try? Data(count: 1 << 20).write(to: URL(filePath: path + "/filler"))
        let pageSize = 4_096
        for size in stride(from: 0, to: 24 * pageSize, by: pageSize) {
          _ = unsafe truncate(path + "/filler", off_t((1 << 20) - size))
          do {
            _ = try Store(at: path + "/store\(size)", models: [Everything.self])
          } catch let error as StoreError {
            #expect(error.code == .diskFull)
          }
        }
      }
    }
  }
#endif
