import DownloadStore
import TestSupport
import Testing

@Suite struct FileLayoutTests {
  @Test(arguments: [
    ("", ""),
    ("a", "a"),
    ("a/b", "a/b"),
    ("a//b/", "a/b"),
    ("./a/./b", "a/b"),
    (".", ""),
    ("...", "..."),
    ("..a/b..", "..a/b.."),
    (".hidden", ".hidden"),
    ("a\\..\\b", "a\\..\\b"),
    ("日本", "日本"),
  ]) func `SC14 a folder below the root is put in order`(folder: String, valid: String) throws {
    #expect(try FileLayout.validatedFolder(folder) == valid)
  }

  @Test(arguments: [
    "/", "/a", "..", "../a", "a/..", "a/../b", "a//..", "./..", "a\u{0}", "a\u{1B}b", "a/\n",
    // A mark after a slash hides it from those who look at characters.
    "../\u{301}a", "/\u{301}a", "a/\u{200D}/../b",
    String(repeating: "a", count: 256), "a/" + String(repeating: "日", count: 86),
  ]) func `a folder that leads out, or that no disk takes, is refused`(folder: String) {
    let error = #expect(throws: DownloadStoreError.self) {
      try FileLayout.validatedFolder(folder)
    }
    #expect(error?.code == .invalidName)
  }

  @Test func `the name of a partial file tells its record`() {
    let id = "0123456789abcdef"
    #expect(FileLayout.recordID(ofPartialNamed: "\(id).dlstore-part") == id)
  }

  @Test(arguments: [
    "", ".dlstore-part", "0123456789abcde.dlstore-part", "0123456789abcdef0.dlstore-part",
    "0123456789ABCDEF.dlstore-part", "0123456789abcdeg.dlstore-part",
    "0123456789abcdef.dlstore-part2", "0123456789abcdef.part", "0123456789abcdef",
    "x0123456789abcdef.dlstore-part", "0123456789abcdef.DLSTORE-PART",
    // Digits of other scripts are digits to some.
    "０１２３４５６７８９ａｂｃｄｅｆ.dlstore-part", "０123456789abcdef.dlstore-part",
  ]) func `any other name is none of ours`(name: String) {
    #expect(FileLayout.recordID(ofPartialNamed: name) == nil)
  }
}
