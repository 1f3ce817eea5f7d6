import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct RedirectDecisionTests {
  @Test(arguments: [
    ("rel/x", "http://h:1/a/rel/x"), ("../x", "http://h:1/x"), ("/x", "http://h:1/x"),
    ("?q=2", "http://h:1/a/b?q=2"), ("//other/x", "http://other/x"),
    ("https://h:1/x", "https://h:1/x"), ("HTTP://H/x", "HTTP://H/x"),
  ])
  func `a location is resolved against the URL that answered`(
    _ location: String,
    _ url: String
  )
    throws
  {
    let hop = try Hop(TaskRequest(url: "http://h:1/a/b?q=1", recordID: "r"))
    guard case .follow(let next) = RedirectDecision(hop, to: location) else {
      Issue.record("refused: \(location)")
      return
    }
    #expect(next.url.absoluteString == url)
    #expect(next.redirectCount == 1)
  }

  @Test(arguments: [
    ("http://h/x", "http://h:80/y", true), ("https://h/x", "https://H:443/y", true),
    ("http://h/x", "https://h/x", false), ("https://h/x", "http://h/x", false),
    ("http://h/x", "http://h:8080/x", false), ("http://h/x", "http://g.h/x", false),
  ])
  func `an origin is scheme, host and port`(_ from: String, _ to: String, _ isSame: Bool) throws {
    let request = TaskRequest(
      url: from,
      recordID: "r",
      headers: [HeaderField(name: "authorization", value: "x")]
    )
    let hop = try Hop(request)
    guard case .follow(let next) = RedirectDecision(hop, to: to) else {
      Issue.record("refused: \(to)")
      return
    }
    #expect(next.fields.contains { $0.name == "authorization" } == isSame)
  }
}
