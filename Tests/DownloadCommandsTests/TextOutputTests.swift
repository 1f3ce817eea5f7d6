import ObjectStore
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct TextOutputTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｆ", 2), ("🎉", 2),
    ("👨‍👩‍👧", 2), ("❤\u{FE0F}", 2), ("\u{200B}", 0),
    ("🇩🇪", 2), ("🇩", 1), ("🇩🇪🇫🇷", 4), ("👍🏽", 2), ("שלום", 4), ("سلام", 4), ("🏳\u{FE0F}\u{200D}🌈", 2),
  ])
  func `the width of a text is its number of terminal columns`(text: String, width: Int) {
    #expect(TerminalText.width(text) == width)
  }

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 0, ""),
    ("ab", 1, "…"),
  ])
  func `text is cut between characters`(text: String, width: Int, cut: String) {
    #expect(TerminalText.truncated(text, to: width) == cut)
  }

  @Test func `characters that control a terminal are replaced`() {
    #expect(
      TerminalText.safe("a\u{1B}[2Jb\n\u{9B}\u{202E}") == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}"
    )
    #expect(TerminalText.safe("né") == "né")
  }

  @Test func `columns are aligned by width`() {
    var table = TableOutput(columns: [
      .init(title: "A"), .init(title: "N", isAlignedRight: true), .init(title: "B"),
    ])
    table.rows = [["日本", "1", "x"], ["abc", "100", "yy"]]
    #expect(table.lines() == ["A       N  B", "日本    1  x", "abc   100  yy"])
    #expect(table.lines(width: 14) == ["A       N  B", "日本    1  x", "abc   100  yy"])
    #expect(table.lines(width: 9) == ["A       N", "日本    1", "abc   100"])
    #expect(table.lines(width: 3) == ["A", "日…", "abc"])
  }

  @Test func `a table without rows prints its titles`() {
    #expect(TableOutput(columns: [.init(title: "A")]).lines() == ["A"])
  }

  @Test(arguments: [
    (["a", "b"], "a,b"), (["a,b"], "\"a,b\""), (["a\"b"], "\"a\"\"b\""), (["a\r\nb"], "\"a\r\nb\""),
    ([""], ""), (["", ""], ","), ([" a"], "\" a\""), (["\"\u{301}\""], "\"\"\"\u{301}\"\"\""),
  ])
  func `CSV cells are quoted when required`(cells: [String], line: String) {
    #expect(CSVOutput.line(cells) == line)
  }

  @Test func `JSON text is escaped`() {
    #expect(JSONValue.string("a\"\\\n\u{1}é\u{7F}").text == #""a\"\\\n\u0001é\u007f""#)
    #expect(JSONValue.string("\r\t\u{85}\u{202E}").text == #""\r\t\u0085\u202e""#)
    #expect(
      (["a": .array([.null, .bool(true)]), "b": .double(0.5)] as JSONValue).text
        == #"{"a":[null,true],"b":0.5}"#
    )
    #expect((["a": .array([])] as JSONValue).prettyText == "{\n  \"a\": []\n}")
    #expect(JSONValue.double(.nan).text == "null")
  }
}
