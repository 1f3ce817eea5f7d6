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

  @Test func `the last integer key is that of the greatest number`() throws {
    let environment = try Environment.openInMemory()
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("numbers", keys: .integers)
    #expect(try transaction.lastKey(in: database) == nil)
    for key in [3, 700, 20] as [UInt64] {
      let bytes = unsafe withUnsafeBytes(of: key) { unsafe Array($0) }
      try transaction.put(bytes.span, for: bytes.span, in: database)
    }
    #expect(try transaction.lastKey(in: database) == 700)
    _ = consume transaction
  }
}
