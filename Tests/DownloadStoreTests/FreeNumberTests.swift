import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore

/// The numbers of file names, and destinations that cannot be examined.
struct FreeNumberTests {
  @Test(arguments: [1, 2, 3, 7, 8, 100, 5_000]) func `the first free number after a run is found`(
    last: Int
  ) throws {
    var calls = 0
    let number = try FreeNumber.find(after: 1) { number in
      calls += 1
      return number > last
    }
    #expect(number == max(2, last + 1))
    #expect(calls < 40)
  }

  @Test func `a name that is taken with every number is an error`() throws {
    let error = #expect(throws: RecordStoreError.self) {
      _ = try FreeNumber.find(after: 1) { _ in false }
    }
    #expect(error?.code == .nameTaken)
    #expect(try FreeNumber.find(after: 1) { $0 == FreeNumber.largest } == FreeNumber.largest)
  }

  @Test func `a destination that cannot be examined keeps its name`() throws {
    let fixture = try StoreFixture()
    let files = fixture.folder.path(StoreFixture.files)
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    // A link that leads to itself: lstat fails with ELOOP below it, also for root.
    #expect(unsafe symlink("loop", "\(files)/loop") == 0)
    let added = try fixture.add("http://h/a.bin") { $0.folder = "loop" }
    #expect(added.record.filename == "a.bin")
    let second = try fixture.add("http://other/a.bin") { $0.folder = "loop" }
    #expect(second.record.filename == "a (2).bin")
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add("http://third/b.bin") { request in
        request.folder = "loop"
        request.collision = .fail
      }
    }
    #expect(error?.code == .fileSystem)
  }

  @Test func `a folder or a root that is too long is refused`() throws {
    let fixture = try StoreFixture()
    let long = Array(repeating: String(repeating: "x", count: 200), count: 25).joined(
      separator: "/"
    )
    let folder = #expect(throws: RecordStoreError.self) {
      try fixture.add("http://h/a.bin") { $0.folder = long }
    }
    #expect(folder?.code == .invalidName)
    let root = #expect(throws: RecordStoreError.self) { try fixture.store.root(at: "/" + long) }
    #expect(root?.code == .invalidName)
    #expect(throws: RecordStoreError.self) { try fixture.store.root(at: "/a/../b") }
    let longest = Array(repeating: String(repeating: "x", count: 203), count: 10).joined(
      separator: "/"
    )
    #expect(try fixture.add("http://h/b.bin") { $0.folder = longest }.record.folder == longest)
  }

  @Test func `a numbered safe name is safe`() {
    for name in ["a", "a.bin", "x.tar.gz", String(repeating: "ä", count: 127), "日本.zip", "a (3).b"]
    {
      let safe = SafeFilename.sanitized(name)
      for number in [2, 10, 1 << 30] {
        let numbered = SafeFilename.numbered(safe, number)
        #expect(SafeFilename.sanitized(numbered) == numbered)
      }
    }
  }
}
