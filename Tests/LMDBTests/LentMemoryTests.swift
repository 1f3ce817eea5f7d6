import SystemInterface
import TestSupport
import Testing

@testable import LMDB

/// Memory and handles that are lent: the misuse that the compiler does not see ends the process.
@Suite struct LentMemoryTests {
  @Test func `using the handle of an environment after its close ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let handle = try environmentCreate()
      environmentClose(handle)
      _ = try? environmentInfo(handle)
    }
  }

  @Test func `closing the handle of an environment twice ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let handle = try environmentCreate()
      environmentClose(handle)
      environmentClose(handle)
    }
  }

  @Test func `reading a file past the end of an array ends the process`() async {
    await #expect(processExitsWith: .failure) {
      var bytes = [UInt8](repeating: 0, count: 4)
      _ = pread(STDIN_FILENO, into: &bytes, 0..<5, at: 0)
    }
  }

  @Test func `entries with a prefix are lent in the order of their keys`() throws {
    let environment = try Environment.openInMemory()
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("entries")
    for key in ["a", "b/2", "b/1", "b", "c"] {
      try transaction.put(Array("=\(key)".utf8).span, for: Array(key.utf8).span, in: database)
    }
    var found: [String] = []
    try transaction.forEachEntry(withPrefix: Array("b/".utf8), in: database) { key, value in
      found.append(String(decodingUTF8: key) + String(decodingUTF8: value))
    }
    #expect(found == ["b/1=b/1", "b/2=b/2"])
    _ = consume transaction
  }

  @Test func `entries with integer keys are lent, stored and removed by their numbers`() throws {
    let environment = try Environment.openInMemory()
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("numbers", keys: .integers)
    #expect(try transaction.lastKey(in: database) == nil)
    for key in [3, 700, 20] as [UInt64] {
      try transaction.put([UInt8(key % 256)].span, for: key, in: database)
    }
    #expect(try transaction.lastKey(in: database) == 700)
    var keys: [UInt64?] = []
    var limit = 2
    try transaction.forEachEntry(from: 4, in: database) { key, value in
      #expect([UInt8](copying: value) == key.map { [UInt8($0 % 256)] })
      keys.append(key)
      return true
    }
    try transaction.forEachEntry(from: 0, in: database) { key, _ in
      keys.append(key)
      limit -= 1
      return limit > 0
    }
    #expect(keys == [20, 700, 3, 20])
    let wasFound = try transaction.delete(20, in: database)
    let isFoundAgain = try transaction.delete(20, in: database)
    #expect(wasFound && !isFoundAgain)
    for (key, isPresent) in [(3, true), (20, false)] as [(UInt64, Bool)] {
      let isFound = try transaction.withValue(of: key, in: database) { $0 != nil }
      #expect(isFound == isPresent)
    }
    _ = consume transaction
  }
}
