import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct LinkFieldTests {
  private func duplicates(
    _ fields: String...,
    of url: String = "http://a.example/dir/file",
    from final: String? = nil
  ) -> [String] {
    let fields = fields.map { HeaderField(name: "Link", value: $0) }
    return ResponseHead(status: 200, fields: fields, url: final).duplicates(of: url)
  }

  @Test func `mirrors are listed by priority, those without one last`() {
    #expect(
      duplicates(
        "<http://b.example/1>; rel=duplicate, <http://b.example/2>; rel=\"duplicate\"; pri=20",
        "<http://b.example/3>;rel=duplicate;pri=3;geo=\"de\"; pref, <http://b.example/4>; rel=next"
      ) == ["http://b.example/3", "http://b.example/2", "http://b.example/1"]
    )
  }

  @Test func `the relation may be one of several, in any case`() {
    #expect(duplicates("<http://b.example/>; REL=\"Alternate Duplicate\"") == ["http://b.example/"])
    #expect(duplicates("<http://b.example/>; rel=duplicates").isEmpty)
    #expect(duplicates("<http://b.example/>; rel=next; rel=duplicate").isEmpty)
  }

  @Test func `a relative reference is resolved against the URL after redirects`() {
    #expect(duplicates("<other>; rel=duplicate") == ["http://a.example/dir/other"])
    #expect(
      duplicates("</x>; rel=duplicate", from: "http://c.example/y") == ["http://c.example/x"]
    )
  }

  @Test func `an encrypted response lists no mirror without encryption`() {
    let field = "<http://b.example/1>; rel=duplicate, <https://b.example/2>; rel=duplicate"
    #expect(duplicates(field, of: "https://a.example/") == ["https://b.example/2"])
    #expect(duplicates(field) == ["http://b.example/1", "https://b.example/2"])
  }

  @Test(
    arguments: [
      "", "<", "<>", "< ; rel=duplicate", "http://b.example/; rel=duplicate",
      "<ftp://b.example/>; rel=duplicate", "<file:///etc/passwd>; rel=duplicate",
      "<http:///x>; rel=duplicate", "<http://b.example/>", "<http://b.example/>; rel",
      "<http://b.example/>; rel=", "<http://b.example/>; rel=\"",
      "<http://b.example:99999/>;rel=duplicate", "</\u{FFFD}>;rel=duplicate",
      "<http://b.example/> rel=duplicate", ",;,;=\"\\",
    ]
  )
  func `anything else lists no mirror`(field: String) {
    #expect(duplicates(field).isEmpty)
  }

  @Test func `a comma or semicolon in a quoted parameter or a reference ends nothing`() {
    #expect(
      duplicates(
        "<http://b.example/a,b;c>; title=\"x, <http://c.example/>; rel=no\"; rel=duplicate"
      )
        == ["http://b.example/a,b;c"]
    )
  }
}
