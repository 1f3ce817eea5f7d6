import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadServer

/// A store in a folder of its own.
@discardableResult
private func withStore<R>(_ body: (RecordStore) throws -> R) throws -> R {
  let folder = try TemporaryFolder()
  return try withExtendedLifetime(folder) { try body(RecordStore(at: folder.path("store"))) }
}

private func view(
  _ query: DownloadListQuery = DownloadListQuery(),
  of store: RecordStore,
  allowsChanges: Bool = true
) throws -> String {
  let page = try DownloadListPage(query, in: store, engineRuns: false)
  var counts = StateCounts()
  try store.objects.read { tx in try counts.update(in: &tx) }
  return DownloadListView(
    page: page,
    counts: counts.words(engineRuns: false),
    bytesPerSecond: 0,
    speed: { _ in nil },
    allowsChanges: allowsChanges
  )
  .html.text
}

private let hostile = "\"><script>alert(1)</script>"

@Suite struct DownloadListTests {
  @Test func `hostile names, hosts and tags are escaped`() throws {
    try withStore { store in
      var request = DownloadRequest(url: "http://example.com/x?q=%22%3E%3Cscript%3E")
      request.filename = hostile
      request.tags = [hostile]
      try store.addNow([request])
      let html = try view(of: store)
      #expect(!html.contains("<script>alert"))
      #expect(html.contains("&lt;script&gt;alert(1)"))
      #expect(html.contains("tag=%22%3E%3Cscript%3E"))
    }
  }

  @Test func `the secrets of a URL are on no page`() throws {
    try withStore { store in
      var request = DownloadRequest(
        url: "https://me:hunter2@example.com/a.bin?token=topsecret123456"
      )
      request.headers = [HeaderField(name: "Authorization", value: "Bearer abcdef123456")]
      let record = try store.addNow([request])[0].record
      let detail = DownloadDetailView(
        entry: DownloadEntry(record, try store.roots(), engineRuns: false),
        headers: try store.headers(of: record),
        speed: nil,
        allowsChanges: true
      )
      .html.text
      let commits = try RecordCommit.last(of: record, in: store.objects)
      let history = RecordHistory(commits: commits).html.text
      let change = ChangeView(records: [record], back: "/").html.text
      for html in [try view(of: store), detail, history, change] {
        for secret in ["hunter2", "topsecret", "abcdef123456"] { #expect(!html.contains(secret)) }
      }
      #expect(detail.contains("example.com"))
    }
  }

  @Test func `an empty store says how to add downloads`() throws {
    try withStore { store in
      #expect(try view(of: store).contains("No downloads yet"))
      #expect(try view(of: store).contains("<details class=\"card\" id=\"add\" open>"))
      let reading = try view(of: store, allowsChanges: false)
      #expect(reading.contains("dlstore add URL"))
      #expect(!reading.contains("<textarea"))
    }
  }

  @Test func `a filter without matches leads back to all downloads`() throws {
    try withStore { store in
      try store.addNow([DownloadRequest(url: "http://example.com/a")])
      var query = DownloadListQuery()
      query.text = "nothing"
      let html = try view(query, of: store)
      #expect(html.contains("No download matches the filters"))
      #expect(html.contains("<a href=\"/\">Show all 1 download</a>"))
      #expect(html.contains("Remove the filter Text nothing"))
    }
  }

  @Test func `a page without changes has no command`() throws {
    try withStore { store in
      try store.addNow([DownloadRequest(url: "http://example.com/a")])
      let html = try view(of: store, allowsChanges: false)
      #expect(!html.contains("method=\"post\""))
      #expect(!html.contains("type=\"checkbox\""))
    }
  }

  @Test func `the address keeps every filter`() {
    let text = "state=failed&tag=a%26b&host=*.example.com&text=x%20y&reason=notFound&sort=name"
    let query = DownloadListQuery(FormFields(text))
    #expect(DownloadListQuery(query.fields) == query)
    #expect(query.tag == "a&b")
    #expect(query.with { $0.tag = nil }.address.contains("host=%2A.example.com"))
    #expect(
      DownloadListQuery(FormFields("state=none&sort=none&reason=none")) == DownloadListQuery()
    )
  }

  @Test func `the pages of a list show each download once, in the order of the states`() throws {
    try withStore { store in
      let requests = (0..<120).map { number in
        var request = DownloadRequest(url: "http://example.com/\(number)")
        request.isPaused = number.isMultiple(of: 3)
        return request
      }
      try store.addNow(requests)
      var query = DownloadListQuery()
      var records: [DownloadRecord] = []
      repeat {
        let page = try DownloadListPage(query, in: store, engineRuns: false)
        #expect(page.entries.count <= DownloadListPage.size)
        records += page.entries.map(\.record)
        query.after = page.next
      } while query.after != nil
      #expect(Set(records.map(\.id)).count == 120)
      #expect(records.count == 120)
      #expect(
        records.map(\.state) == Array(repeating: .waiting, count: 80)
          + Array(repeating: .paused, count: 40)
      )
    }
  }

  @Test(arguments: DownloadListQuery.Sort.allCases)
  func `each order has pages`(sort: DownloadListQuery.Sort) throws {
    try withStore { store in
      try store.addNow((0..<60).map { DownloadRequest(url: "http://example.com/\($0)") })
      var query = DownloadListQuery()
      query.sort = sort
      let first = try DownloadListPage(query, in: store, engineRuns: false)
      query.after = first.next
      let second = try DownloadListPage(query, in: store, engineRuns: false)
      #expect(first.entries.count == 50)
      #expect(second.entries.count == 10)
      #expect(second.next == nil)
      #expect(Set((first.entries + second.entries).map(\.record.id)).count == 60)
    }
  }

  @Test func `failures are grouped by their reason, the largest group first`() {
    let groups = FailureGroups([
      ("http://a.example/1", .notFound), ("http://b.example/2", .notFound),
      ("http://a.example/3", .timedOut),
    ])
    #expect(groups.groups.map(\.code) == [.notFound, .timedOut])
    #expect(groups.groups[0].hosts == ["a.example", "b.example"])
    #expect(groups.count == 3)
  }
}
