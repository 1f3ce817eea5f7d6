import Testing

@testable import DownloadCommands

struct GlobPatternTests {
  @Test(arguments: [
    ("", ""), ("*", ""), ("*", "a/b"), ("a*c", "ac"), ("a*c", "abbc"), ("*.zip", "x.zip"),
    ("?", "é"), ("a?c", "a?c"), ("[a-c]x", "bx"), ("[!a-c]x", "dx"), ("[^a-c]x", "dx"),
    ("[]]", "]"), ("[a-]", "-"), ("[", "["), ("[ab", "[ab"), ("**a**", "xxaxx"),
    ("https://*.example.org/*", "https://a.example.org/b/c?d"), ("*a*b*c*", "1a2b3c4"),
  ])
  func `what fits, fits`(pattern: String, text: String) {
    #expect(GlobPattern(pattern).matches(text))
  }

  @Test(arguments: [
    ("", "a"), ("a", ""), ("a*c", "ab"), ("*.zip", "x.zip2"), ("?", ""), ("?", "ab"),
    ("[a-c]", "d"), ("[!a-c]", "b"), ("[c-a]", "b"), ("A", "a"), ("[", "a"), ("*a", "b"),
  ])
  func `what does not fit, does not`(pattern: String, text: String) {
    #expect(!GlobPattern(pattern).matches(text))
  }

  @Test(.timeLimit(.minutes(1)))
  func `many stars take no exponential time`() {
    let pattern = String(repeating: "*a", count: 50) + "*b"
    #expect(!GlobPattern(pattern).matches(String(repeating: "a", count: 5000)))
  }
}
