import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Keys are told apart by their bytes, also where Swift calls two texts equal.
@Suite struct KeyBytesTests {
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  @Test func `an update may not put a key that looks alike in the place of another`() throws {
    let folder = try TemporaryFolder()
    let store = try DownloadStore(at: folder.path("store"))
    try store.setRoot("/one", named: composed)
    let error = #expect(throws: StoreError.self) {
      try store.objects.write { tx in
        _ = try tx.update(Root.self, composed) { $0.name = decomposed }
      }
    }
    #expect(error?.code == .keyChanged)
    #expect(try store.roots().path(of: composed) == "/one")
  }

  @Test func `two roots whose names look alike are no reason to stop`() throws {
    let folder = try TemporaryFolder()
    let store = try DownloadStore(at: folder.path("store"))
    try store.setRoot("/one", named: composed)
    try store.setRoot("/two", named: decomposed)
    #expect(["/one", "/two"].contains(try store.roots().path(of: composed)))
    try store.add([DownloadRequest(url: "http://127.0.0.1:1/a")])
  }
}
