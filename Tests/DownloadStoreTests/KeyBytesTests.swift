import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Keys are compared by their bytes, even if Swift considers the strings equal.
@Suite struct KeyBytesTests {
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  @Test func `an update cannot replace a key by a canonically equal one`() throws {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try store.setRoot("/one", named: composed)
    let error = #expect(throws: StoreError.self) {
      try store.objects.write { tx in
        _ = try tx.update(Root.self, key: composed) { $0.name = decomposed }
      }
    }
    #expect(error?.code == .keyChanged)
    #expect(try store.roots().path(of: composed) == "/one")
  }

  @Test func `two roots with canonically equal names do not trap`() throws {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try store.setRoot("/one", named: composed)
    try store.setRoot("/two", named: decomposed)
    #expect(["/one", "/two"].contains(try store.roots().path(of: composed)))
    try store.addNow([DownloadRequest(url: "http://127.0.0.1:1/a")])
  }
}
