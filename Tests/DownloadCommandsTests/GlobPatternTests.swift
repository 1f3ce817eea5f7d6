import DownloadReports
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct GlobPatternTests {
  @Test(arguments: [
    ("", ""), ("*", ""), ("*", "a/b"), ("a*c", "ac"), ("a*c", "abbc"), ("*.zip", "x.zip"),
    ("?", "é"), ("a?c", "a?c"), ("[a-c]x", "bx"), ("[!a-c]x", "dx"), ("[^a-c]x", "dx"),
    ("[]]", "]"), ("[a-]", "-"), ("[", "["), ("[ab", "[ab"), ("**a**", "xxaxx"),
    ("https://*.example.org/*", "https://a.example.org/b/c?d"), ("*a*b*c*", "1a2b3c4"),
  ])
  func `a matching text matches`(pattern: String, text: String) {
    #expect(GlobPattern(pattern).matches(text))
  }

  @Test(arguments: [
    ("", "a"), ("a", ""), ("a*c", "ab"), ("*.zip", "x.zip2"), ("?", ""), ("?", "ab"),
    ("[a-c]", "d"), ("[!a-c]", "b"), ("[c-a]", "b"), ("A", "a"), ("[", "a"), ("*a", "b"),
  ])
  func `any other text does not match`(pattern: String, text: String) {
    #expect(!GlobPattern(pattern).matches(text))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a pattern with many stars takes no exponential time`() {
    let pattern = String(repeating: "*a", count: 50) + "*b"
    #expect(!GlobPattern(pattern).matches(String(repeating: "a", count: 5000)))
  }
}
