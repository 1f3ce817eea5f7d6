import DownloadStore
import TestSupport
import TestTraits
import Testing

@Suite struct FileLayoutTests {
  @Test(
    .requirements("SC14"),
    arguments: [
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
    ]
  ) func `a folder path below the root is normalized`(folder: String, valid: String) throws {
    #expect(try FileLayout.validatedFolder(folder) == valid)
  }

  @Test(arguments: [
    "/", "/a", "..", "../a", "a/..", "a/../b", "a//..", "./..", "a\u{0}", "a\u{1B}b", "a/\n",
    // A combining mark hides a slash from code that compares characters.
    "../\u{301}a", "/\u{301}a", "a/\u{200D}/../b",
    String(repeating: "a", count: 256), "a/" + String(repeating: "日", count: 86),
  ]) func `a folder that leaves the root or exceeds the file system's limits is rejected`(
    folder: String
  ) {
    let error = #expect(throws: RecordStoreError.self) {
      try FileLayout.validatedFolder(folder)
    }
    #expect(error?.code == .invalidName)
  }

  private static let record = "0123456789abcdef"
  private static let store = "fedcba9876543210"

  @Test func `the name of a partial file contains the ids of its record and its store`() {
    let name = PartialName(recordID: Self.record, storeID: Self.store)
    #expect(name.text == "0123456789abcdef-fedcba9876543210.dlstore-part")
    #expect(PartialName(name.text) == name)
  }

  @Test(arguments: [
    "", ".dlstore-part", "0123456789abcdef.dlstore-part", "0123456789abcde.dlstore-part",
    "0123456789abcdef0.dlstore-part",
    "0123456789ABCDEF.dlstore-part", "0123456789abcdeg.dlstore-part",
    "0123456789abcdef.dlstore-part2", "0123456789abcdef.part", "0123456789abcdef",
    "x0123456789abcdef.dlstore-part", "0123456789abcdef.DLSTORE-PART",
    "0123456789abcdef-.dlstore-part", "-0123456789abcdef.dlstore-part",
    "0123456789abcdef-0123.dlstore-part", "0123456789abcdef_fedcba9876543210.dlstore-part",
    "0123456789abcdef-fedcba9876543210-0123456789abcdef.dlstore-part",
    // Swift counts digits of other scripts as digits.
    "０１２３４５６７８９ａｂｃｄｅｆ.dlstore-part", "０123456789abcdef.dlstore-part",
  ]) func `any other name is not a partial file name`(name: String) {
    #expect(PartialName(name) == nil)
  }
}
