import Testing

@testable import DownloadServer

@Suite struct HTMLTests {
  @Test func `an interpolated text is escaped`() {
    let text = "<b>\"x\" & 'y'</b>"
    let html: HTML = "<p title=\"\(text)\">\(text)</p>"
    let escaped = "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;"
    #expect(html.text == "<p title=\"\(escaped)\">\(escaped)</p>")
  }

  @Test func `a piece of HTML is inserted as it is`() {
    let item: HTML = "<li>\("a&b")</li>"
    let list: HTML = "<ul>\([item, item])\(item, if: false)\(nil as HTML?)</ul>"
    #expect(list.text == "<ul><li>a&amp;b</li><li>a&amp;b</li></ul>")
  }

  @Test(arguments: [
    ("a\u{0}b", "a\u{FFFD}b"), ("\u{202E}gpj.exe", "\u{FFFD}gpj.exe"),
    ("x\u{2066}y\u{2069}", "x\u{FFFD}y\u{FFFD}"), ("a\u{85}", "a\u{FFFD}"),
    ("Ünïcödé 漢字 👩‍👩‍👧", "Ünïcödé 漢字 👩‍👩‍👧"), ("line\nnext", "line\nnext"),
  ])
  func `control characters and marks of direction are replaced`(text: String, shown: String) {
    let html: HTML = "\(text)"
    #expect(html.text == shown)
  }

  @Test func `a form is decoded as browsers encode it`() {
    let form = FormFields("a=1+2&b=%C3%A4%26%3D&a=&c&d=%zz&e=100%")
    #expect(form["a"] == "1 2")
    #expect(form["b"] == "ä&=")
    #expect(form.values("a") == ["1 2"])
    #expect(form["c"] == nil)
    #expect(form["d"] == "%zz")
    #expect(form["e"] == "100%")
  }

  @Test(arguments: ["", "a b", "ä&=?#/", "100%", "\"<>'", "日本"])
  func `an encoded field is decoded to the same`(text: String) {
    var fields = FormFields()
    fields.add(text, "x\(text)")
    #expect(FormFields(fields.encoded) == fields)
  }

  @Test func `numbers and durations are short`() {
    #expect(PageText.number(0) == "0")
    #expect(PageText.number(999) == "999")
    #expect(PageText.number(1_234_567) == "1,234,567")
    #expect(PageText.number(-1000) == "−1,000")
    #expect(PageText.duration(0.2) == "1s")
    #expect(PageText.duration(134) == "2m 14s")
    #expect(PageText.duration(3 * 3600 + 61) == "3h 1m")
    #expect(PageText.duration(.infinity) == "1157407d 9h")
    #expect(PageText.percent(0.999) == 99)
    #expect(PageText.percent(1) == 100)
  }

  @Test func `the files of the page are embedded, and small`() {
    #expect(PageAssets.script.bytes.count < 20_000)
    #expect(PageAssets.script.bytes.count > 1000)
    #expect(PageAssets.script.path.hasPrefix("/assets/page-"))
    #expect(Set(PageAssets.all.map(\.path)).count == 2)
    // It is sent with each page, and nothing in it ends the element.
    #expect((1000..<24_000).contains(PageStyle.text.utf8.count))
    #expect(!PageStyle.text.contains("<"))
  }
}
