import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct DamagedFileTests {
  private static let pageSize = 4_096
  private static let keyCount = 150

  let folder: TemporaryFolder
  let intact: Data

  /// Creates a file of a few hundred pages, including large values.
  init() throws {
    folder = try TemporaryFolder()
    do {
      let environment = try Environment.open(folder.path)
      let database = try environment.database("strings")
      for round in 0..<4 {
        try environment.write { transaction in
          for key in 0..<Self.keyCount {
            let size = key.isMultiple(of: 50) ? 20_000 : 200
            let text = String(filledWith: "x", count: size + round)
            try transaction.put(text, for: "key \(key)", in: database)
          }
        }
      }
    }
    intact = try Data(contentsOf: URL(filePath: folder.path + "/data.mdb"))
  }

  private func replaceFile(by data: Data) throws {
    try data.write(to: URL(filePath: folder.path + "/data.mdb"))
  }

  private func pageCount() -> Int { intact.count / Self.pageSize }

  private func intact(withPage number: Int, filledWith byte: UInt8) -> Data {
    var data = intact
    let start = number * Self.pageSize
    data.replaceSubrange(
      start..<start + Self.pageSize,
      with: Data(repeating: byte, count: Self.pageSize)
    )
    return data
  }

  @Test func `an intact file passes the check, with and without free pages`() throws {
    let environment = try Environment.open(folder.path)
    try environment.checkPages()
    let database = try environment.database("strings")
    try environment.write { try $0.removeAll(in: database) }
    try environment.checkPages()
  }

  @Test(arguments: [false, true])
  func `opening a truncated file throws unless only free pages are missing`(isReadOnly: Bool) throws
  {
    let options = EnvironmentOptions(isReadOnly: isReadOnly)
    var refused = 0
    for count in stride(from: 2, to: pageCount(), by: 3) {
      try replaceFile(by: intact.prefix(count * Self.pageSize - (count.isMultiple(of: 2) ? 0 : 77)))
      do {
        // Some truncations remove only free pages.
        let environment = try Environment.open(folder.path, options: options)
        try environment.checkPages()
        let snapshot = try environment.beginRead()
        let database = try #require(try snapshot.openDatabase("strings"))
        #expect(try snapshot.keys(of: database).count == Self.keyCount)
      } catch let error as LMDBError {
        #expect(error.isCorruption)
        refused += 1
      }
    }
    #expect(refused > 5)
  }

  @Test func `a file that lacks only free pages opens and is extended to its full size`() throws {
    let size = Int64(intact.count)
    do {
      let environment = try Environment.open(folder.path)
      let database = try environment.database("strings")
      try environment.write { try $0.removeAll(in: database) }
      for number in 0..<5 {
        try environment.write { try $0.put("\(number)", for: "last", in: database) }
      }
    }
    let file = folder.path + "/data.mdb"
    let complete = try Data(contentsOf: URL(filePath: file))
    try replaceFile(by: complete.prefix(complete.count - Self.pageSize))
    let readOnly = EnvironmentOptions(isReadOnly: true)
    do { _ = try Environment.open(folder.path, options: readOnly) }
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    #expect(try environment.string(for: "last", in: database) == "4")
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.size] as? Int64 ?? 0) >= size)
  }

  @Test(arguments: [0, 0xFF, 0x5A] as [UInt8])
  func `the check finds overwritten pages that are in use`(byte: UInt8) throws {
    var found = 0
    for number in 2..<pageCount() {
      try replaceFile(by: intact(withPage: number, filledWith: byte))
      do {
        try Environment.open(folder.path).checkPages()
      } catch {
        #expect(error.isCorruption)
        found += 1
      }
    }
    // The other pages are free, or continue a large value and carry no header.
    #expect(found > 10)
  }

  @Test func `the check reports flipped bits or ignores them, and never crashes`() throws {
    var state: UInt64 = 1
    for _ in 0..<100 {
      var data = intact
      for _ in 0..<4 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let offset = 2 * Self.pageSize + Int(state >> 33) % (data.count - 2 * Self.pageSize)
        data[offset] ^= 1 << UInt8(state >> 61)
      }
      try replaceFile(by: data)
      do {
        try Environment.open(folder.path).checkPages()
      } catch {
        #expect(error.isCorruption)
      }
    }
  }

  /// LMDB fails an assertion when it reads such a page.
  ///
  /// The modification time is restored, as if the disk had changed the page, so that the open does
  /// not check the file.
  @Test func `reading a zeroed page that was not checked aborts the process`() async throws {
    let file = folder.path + "/data.mdb"
    let inUse = (2..<pageCount()).filter { number in
      let page = intact[number * Self.pageSize..<(number + 1) * Self.pageSize]
      let isLeaf = page[page.startIndex + 10] == 2
      guard isLeaf, page.range(of: Data("key 120".utf8)) != nil else { return false }
      return !isIntact(intact(withPage: number, filledWith: 0))
    }
    let number = try #require(inUse.first)
    try replaceFile(by: intact)
    do { _ = try Environment.open(folder.path) }
    let time = try FileTime(of: file)
    try replaceFile(by: intact(withPage: number, filledWith: 0))
    try time.set(file)
    await #expect(processExitsWith: .signal(SIGABRT)) { [path = folder.path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      _ = try environment.beginRead().keys(of: database)
    }
  }

  /// Changes header fields of random pages, including the meta pages.
  @Test func `a file with changed page headers is refused or can be read and written`() async throws
  {
    var random = SplitMix64(seed: 7)
    for _ in 0..<150 {
      var data = intact
      let page = Int.random(in: 0..<pageCount(), using: &random) * Self.pageSize
      let header = [0, 10, 12, 14, 16, 18, 20, 40, 46, 72, 80, 88, 94, 120, 128, 136, 144]
      let offset = page + (header.randomElement(using: &random) ?? 0)
      let value = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      for index in 0..<Int.random(in: 1...8, using: &random) { data[offset + index] = UInt8(value) }
      try replaceFile(by: data)
      do {
        let environment = try Environment.open(folder.path)
        let database = try environment.database("strings")
        _ = try environment.beginRead().keys(of: database)
        try environment.write { transaction in
          for key in stride(from: 0, to: Self.keyCount, by: 3) {
            try transaction.put("y", for: "key \(key)", in: database)
          }
        }
        try environment.checkPages()
      } catch let error as LMDBError {
        #expect(error.isCorruption, "\(error)")
      }
    }
  }

  private func isIntact(_ data: Data) -> Bool {
    do {
      try replaceFile(by: data)
      try Environment.open(folder.path).checkPages()
      return true
    } catch {
      return false
    }
  }

  /// LMDB divides by the page size of the meta page, and maps as many pages as it declares.
  @Test(
    arguments: [
      (40, [0, 0, 0, 0]), (40, [1, 0, 0, 0]), (40, [0, 0, 16, 0]), (40, [0, 0, 0, 0x80]),
      (136, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
      (136, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0]), (136, [0, 0, 0, 0, 0, 1, 0, 0]),
      (44, [4, 0]), (92, [4, 0]), (94, [0xFF, 0xFF]), (10, [0x28, 0]),
      (144, [1, 0, 0, 0, 0, 0, 0, 0x80]),
    ] as [(Int, [UInt8])]
  )
  func `opening a file with invalid numbers in a meta page throws`(
    offset: Int,
    bytes: [UInt8]
  ) throws {
    for page in 0..<2 {
      for isReadOnly in [false, true] {
        var data = intact
        let start = page * Self.pageSize + offset
        data.replaceSubrange(start..<start + bytes.count, with: bytes)
        try replaceFile(by: data)
        let error = #expect(throws: LMDBError.self) {
          _ = try Environment.open(
            folder.path,
            options: EnvironmentOptions(isReadOnly: isReadOnly)
          )
        }
        #expect(error?.isCorruption == true)
      }
      #expect(throws: LMDBError.self) { try Environment.compact(folder.path) }
    }
  }
}
