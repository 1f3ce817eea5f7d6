import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadServer

@discardableResult
private func withCommands<R>(_ body: (PageCommands) async throws -> R) async throws -> R {
  let folder = try TemporaryFolder()
  let store = try RecordStore(at: folder.path("store"))
  defer { withExtendedLifetime(folder) {} }
  return try await body(PageCommands(store: store, engineRuns: true))
}

@Suite struct PageCommandTests {
  @Test func `a list of URLs is added with its mirrors`() async throws {
    try await withCommands { commands in
      let text =
        "https://example.com/a\thttps://mirror.example/a\r\n# no\n\nexample.com/b\nnot a url"
      var form = FormFields()
      form.add("text", text)
      form.add("tags", "x, y")
      let notice = try await commands.add(form)
      #expect(notice.kind == .bad)
      #expect(notice.text.contains("Added 2 downloads."))
      #expect(notice.text.contains("‘not a url’ is not an http or https URL"))
      let records = try commands.store.records()
      #expect(records.map(\.url) == ["https://example.com/a", "https://example.com/b"])
      #expect(records[0].mirrors == ["https://mirror.example/a"])
      #expect(records[1].tags == ["x", "y"])
    }
  }

  @Test func `a pause can be taken back`() async throws {
    try await withCommands { commands in
      let record = try commands.store.addNow([DownloadRequest(url: "http://example.com/a")])[0]
        .record
      let notice = try await commands.command(FormFields("one=pause+\(record.id)"))
      #expect(notice.text == "Paused ‘a’.")
      #expect(
        notice.undo == PageNotice.Undo(command: .resume, title: "Undo: resume", ids: [record.id])
      )
      _ = try await commands.command(FormFields("do=resume&id=\(record.id)"))
      #expect(try commands.store.record(matching: record.id).state == .waiting)
    }
  }

  @Test(arguments: ["state=failled", "state=failed&reason=none", "tags=x", "state=waiting&x=y"])
  func `a selection that is not understood selects nothing`(scope: String) async throws {
    try await withCommands { commands in
      try commands.store.addNow([DownloadRequest(url: "http://example.com/a")])
      var form = FormFields()
      form.add("do", "pause")
      form.add("scope", scope)
      let malformed = form
      await #expect(throws: ServerError.self) { try await commands.command(malformed) }
      #expect(try commands.store.records().map(\.state) == [.waiting])
      form = FormFields()
      form.add("do", "pause")
      form.add("scope", "state=waiting")
      _ = try await commands.command(form)
      #expect(try commands.store.records().map(\.state) == [.paused])
    }
  }

  @Test func `a command without effect says the state`() async throws {
    try await withCommands { commands in
      var request = DownloadRequest(url: "http://example.com/a")
      request.isPaused = true
      let record = try commands.store.addNow([request])[0].record
      let notice = try await commands.command(
        FormFields("do=pause&id=\(record.id)&id=0000000000000000")
      )
      #expect(notice.kind == .warn)
      #expect(notice.text.contains("‘a’ is unchanged: it is paused."))
      #expect(notice.text.contains("1 download not found"))
      #expect(notice.undo == nil)
    }
  }

  @Test func `a command for a list changes what the list shows, and nothing else`() async throws {
    try await withCommands { commands in
      for (name, tag) in [("a", "x"), ("b", "y"), ("c", "x")] {
        var request = DownloadRequest(url: "http://example.com/\(name)")
        request.tags = [tag]
        _ = try commands.store.addNow([request])
      }
      let notice = try await commands.command(FormFields("do=pause&scope=tag%3Dx"))
      #expect(notice.text == "Paused 2 downloads.")
      #expect(try commands.store.records().map(\.state) == [.paused, .waiting, .paused])
    }
  }

  @Test func `the form of changes takes ids, and counts those that no download has`() async throws {
    try await withCommands { commands in
      let record = try commands.store.addNow([DownloadRequest(url: "http://example.com/a")])[0]
        .record
      let notice = try await commands.change(
        FormFields("id=\(record.id)&id=a&id=none&id=none&priority=7")
      )
      #expect(notice.text.hasPrefix("Changed ‘a’. 2 downloads not found"), "\(notice.text)")
      #expect(try commands.store.record(matching: record.id).priority == 7)
      let named = try await commands.change(FormFields("id=a&priority=8"))
      #expect(named.kind == .bad && named.text.hasPrefix("1 download not found"))
      #expect(try commands.store.record(matching: record.id).priority == 7)
    }
  }

  @Test(arguments: ["do=explode&id=1", "one=pause", "one=explode+1", ""])
  func `a form without a command is refused`(form: String) async throws {
    try await withCommands { commands in
      await #expect(throws: ServerError.self) { try await commands.command(FormFields(form)) }
    }
  }

  @Test func `the next page is one of this server`() {
    for address in ["/", "/?state=failed&tag=a%20b", "/downloads/0123456789abcdef"] {
      #expect(PageCommands.localAddress(address) == address)
    }
    for address in [
      "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nX: y", "", "x",
    ] {
      #expect(PageCommands.localAddress(address) == "/")
    }
  }

  @Test func `invalid properties are named`() throws {
    #expect(throws: PageProblem("The priority ‘high’ is not a whole number.")) {
      try PageCommands.update(of: FormFields("priority=high"))
    }
    #expect(throws: PageProblem.self) { try PageCommands.update(of: FormFields("limit=fast")) }
    #expect(throws: PageProblem.self) { try PageCommands.update(of: FormFields("connections=0")) }
    #expect(throws: PageProblem.self) { try PageCommands.update(of: FormFields("filename=a%2Fb")) }
    let update = try PageCommands.update(of: FormFields("limit=none&connections=4&tag=a,b"))
    #expect(update.bytesPerSecond == .some(nil))
    #expect(update.connections == 4)
    #expect(update.addedTags == ["a", "b"])
  }
}

@Suite struct RangeMapTests {
  @Test func `ranges are drawn in proportion, and short ones are visible`() {
    let map = RangeMap(ranges: [0..<500, 750..<751], size: 1_000_000)
    #expect(map.bars.map(\.start) == [0])
    let wide = RangeMap(ranges: [0..<250, 500..<750], size: 1000)
    #expect(wide.bars.map(\.start) == [0, 500])
    #expect(wide.bars.map(\.width) == [250, 250])
    #expect(RangeMap(ranges: [999..<1000], size: 1000).bars.map(\.width) == [1])
    #expect(RangeMap(ranges: [0..<10], size: nil).bars.isEmpty)
  }
}
