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
    let hop = try PreparedRequest(TaskRequest(url: "http://h:1/a/b?q=1", recordID: "r"))
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
  func `an origin consists of scheme, host and port`(
    _ from: String,
    _ to: String,
    _ isSame: Bool
  ) throws {
    let request = TaskRequest(
      url: from,
      recordID: "r",
      headers: [HeaderField(name: "authorization", value: "x")]
    )
    let hop = try PreparedRequest(request)
    guard case .follow(let next) = RedirectDecision(hop, to: to) else {
      Issue.record("refused: \(to)")
      return
    }
    #expect(next.fields.contains { $0.name == "authorization" } == isSame)
  }

  @Test
  func `header fields that identify the user stay with their origin, also after a redirect back`()
    throws
  {
    let request = TaskRequest(
      url: "https://h/x",
      recordID: "r",
      headers: ["Private-Token", "X-Api-Key", "Host", "X-Plain"].map {
        HeaderField(name: $0, value: "x")
      }
    )
    var hop = try PreparedRequest(request)
    for location in ["http://h/y", "https://h/z"] {
      guard case .follow(let next) = RedirectDecision(hop, to: location) else {
        Issue.record("refused: \(location)")
        return
      }
      #expect(next.fields.map(\.name) == ["Accept-Encoding", "X-Plain"])
      hop = next
    }
  }

  @Test(arguments: [
    "ftp://me:hush@h/x?token=hush", "http:///x?token=hush", "http://[x/?sig=hush",
    "//me:hush@[h/x?sig=hush", "data:hush", "http://me:hush@/?X-Amz-Signature=hush",
  ])
  func `a refused redirect reveals no secret of its target`(location: String) throws {
    let hop = try PreparedRequest(TaskRequest(url: "http://h/x", recordID: "r"))
    guard case .refuse(let reason) = RedirectDecision(hop, to: location) else {
      Issue.record("followed: \(location)")
      return
    }
    #expect(!reason.contains("hush"), "\(reason)")
  }

  @Test func `exceeding the redirect limit reveals no secret of the last target`() throws {
    var hop = try PreparedRequest(TaskRequest(url: "http://me:hush@h/x?token=hush", recordID: "r"))
    hop.redirectCount = RedirectDecision.limit
    guard case .refuse(let reason) = RedirectDecision(hop, to: "/y") else {
      Issue.record("followed")
      return
    }
    #expect(reason.contains("h/x") && !reason.contains("hush"), "\(reason)")
  }

  @Test func `an unsupported URL is named without its secrets`() {
    let request = TaskRequest(url: "ftp://me:hush@h/?token=hush", recordID: "r")
    let failure = #expect(throws: DownloadFailure.self) { _ = try PreparedRequest(request) }
    #expect(failure?.message.contains("hush") == false)
  }
}
