import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

/// A damaged `data.mdb` gives exit code 65 and is not modified.
@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
  /// Creates a store of a thousand records.
  private func makeStore() throws -> (folder: String, file: URL) {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "damage-\(UUID().uuidString)").path
    let store = try RecordStore(at: folder)
    try store.addNow((0..<1_000).map { DownloadRequest(url: "http://127.0.0.1:1/file-\($0)") })
    return (folder, URL(filePath: folder).appending(path: "data.mdb"))
  }

  @Test(arguments: ["list", "run", "inspect"])
  func `a file of random bytes is reported as damaged`(command: String) async throws {
    let (folder, file) = try makeStore()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let garbage = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
    try garbage.write(to: file)
    let arguments = command == "inspect" ? ["inspect", "abc"] : [command]
    let log = "\(folder)/log"
    let code = try await BuiltProcess.run(["--store", folder] + arguments, output: log)
    #expect(code == 65)
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains(folder))
    #expect(try Data(contentsOf: file) == garbage)
  }

  @Test func `a truncated file is reported as damaged`() async throws {
    let (folder, file) = try makeStore()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let half = try Data(contentsOf: file).prefix(64 * 1_024)
    try half.write(to: file)
    #expect(try await BuiltProcess.run(["--store", folder, "list"]) == 65)
  }

  @Test func `a page of zeros or random bytes is reported as damaged wherever it is`() async throws
  {
    let (folder, file) = try makeStore()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let whole = try Data(contentsOf: file)
    let pages = whole.count / 4_096
    for page in stride(from: 2, to: pages, by: max(1, pages / 24)) {
      for filling in [UInt8(0), 0x5A] {
        var damaged = whole
        damaged.replaceSubrange(
          page * 4_096..<(page + 1) * 4_096,
          with: [UInt8](repeating: filling, count: 4_096)
        )
        try damaged.write(to: file)
        let code = try await BuiltProcess.run(["--store", folder, "list", "--format", "jsonl"])
        // A page that is no longer referenced can have any content.
        #expect([0, 65].contains(code), "page \(page), \(filling)")
      }
    }
  }

  /// Changes the numbers of a page that LMDB follows: its header, its pointers, and the fields of a
  /// meta page.
  @Test func `changed numbers in a page give exit code 65 or have no effect`() async throws {
    let (folder, file) = try makeStore()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let whole = try Data(contentsOf: file)
    var random = SplitMix64(seed: 26)
    var damagedCount = 0
    for round in 0..<48 {
      var damaged = whole
      let page = round.isMultiple(of: 6) ? round % 2 : Int.random(in: 2..<40, using: &random)
      let places = page < 2 ? [40, 46, 80, 88, 94, 128, 136, 144] : [0, 10, 12, 14, 16, 18, 20]
      let place = page * 4_096 + (places.randomElement(using: &random) ?? 0)
      let value = [0, 1, 4, 0x7F, 0xFF].randomElement(using: &random) ?? 0
      for index in 0..<Int.random(in: 1...2, using: &random) {
        damaged[place + index] = UInt8(value)
      }
      try damaged.write(to: file)
      for arguments in [["list", "--format", "jsonl"], ["add", "http://127.0.0.1:1/\(round)"]] {
        let code = try await BuiltProcess.run(["--store", folder] + arguments)
        #expect([0, 65].contains(code), "round \(round): \(arguments)")
        if code == 65 { damagedCount += 1 }
        if arguments[0] == "add", code == 65 {
          #expect(try Data(contentsOf: file) == damaged)
        }
      }
    }
    #expect(damagedCount > 20)
  }
}
