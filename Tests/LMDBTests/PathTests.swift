import SystemInterface
import Testing

/// Tests the parts of paths, in which a slash can be one `Character` with the scalar beside it.
@Suite struct PathTests {
  @Test(arguments: [
    ("a", ".", "a"), ("a/", ".", "a"), ("/a", "/", "a"), ("/", "/", "/"), ("", ".", ""),
    ("a/b", "a", "b"), ("/a/b/", "/a", "b"), ("/a//b", "/a", "b"), ("./a", ".", "a"),
    ("a/\u{301}b", "a", "\u{301}b"), ("/\u{301}b", "/", "\u{301}b"),
    ("a\u{600}/b", "a\u{600}", "b"), ("/\u{200D}/\u{FE0F}", "/\u{200D}", "\u{FE0F}"),
    ("e\u{301}/\u{E9}", "e\u{301}", "\u{E9}"),
  ])
  func `a path has a folder and a name`(path: String, folder: String, name: String) {
    #expect(Array(parentFolder(of: path).utf8) == Array(folder.utf8))
    #expect(Array(lastName(in: path).utf8) == Array(name.utf8))
  }

  @Test func `a path whose first byte is a slash is absolute`() {
    #expect(absolutePath("/\u{301}a") == "/\u{301}a")
    #expect(absolutePath("\u{301}a")?.utf8.first == UInt8(ascii: "/"))
    #expect(absolutePath("\u{301}a").map(lastName(in:)) == "\u{301}a")
  }
}
