import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct RedirectDecisionTests {
  @Test(arguments: [
    ("rel/x", "http://h:1/a/rel/x"), ("../x", "http://h:1/x"), ("/x", "http://h:1/x"),
    ("?q=2", "http://h:1/a/b?q=2"), ("//other/x", "http://other/x"),
    ("https://h:1/x", "https://h:1/x"), ("HTTP://H/x", "http://h/x"),
    ("", "http://h:1/a/b?q=1"), ("#f", "http://h:1/a/b?q=1"), ("?", "http://h:1/a/b?"),
    (" /x ", "http://h:1/x"), ("/%C9%cc.xls?%e9", "http://h:1/%C9%cc.xls?%e9"),
    ("?sig=ab%2Bcd%3D&t=[v1]", "http://h:1/a/b?sig=ab%2Bcd%3D&t=%5Bv1%5D"),
    ("/\u{6587}%20name", "http://h:1/%E6%96%87%20name"), ("/a:b/../c d", "http://h:1/c%20d"),
    ("//me:pw@h:1/x", "http://me:pw@h:1/x"), ("http://h:80", "http://h/"),
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
    #expect(next.url.text == url)
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
      headers: ["Private-Token", "X-Api-Key", "Host", "X-Unknown", "Accept"].map {
        HeaderField(name: $0, value: "x")
      }
    )
    var hop = try PreparedRequest(request)
    for location in ["http://h/y", "https://h/z"] {
      guard case .follow(let next) = RedirectDecision(hop, to: location) else {
        Issue.record("refused: \(location)")
        return
      }
      #expect(next.fields.map(\.name) == ["Accept-Encoding", "Accept"])
      hop = next
    }
  }

  @Test(arguments: [
    "http://h:65536/", "//h:65536/", "https://h:99999999999999999999/x", "http://h:-1/",
    "http://h:+80/", "http://h:8o/", "http://[::1/", "http://[]/", "http://[::1]x/", "http://a b/",
    "http://h%00/", "http://h%2f/", "http:h/x", "http:/x", "http://", "https://@/", "h:80/x",
    "/r\u{FFFD}sum\u{FFFD}.pdf",
  ])
  func `a location that cannot be requested is refused`(location: String) throws {
    let hop = try PreparedRequest(TaskRequest(url: "http://h:1/a", recordID: "r"))
    guard case .refuse = RedirectDecision(hop, to: location) else {
      Issue.record("followed: \(location)")
      return
    }
  }

  private func authorization(
    _ url: String,
    _ locations: String...,
    given: String? = nil
  ) throws
    -> [String?]
  {
    let headers = given.map { [HeaderField(name: "authorization", value: $0)] } ?? []
    var hop = try PreparedRequest(TaskRequest(url: url, recordID: "r", headers: headers))
    func value() -> String? {
      hop.fields.first { $0.name.lowercased() == "authorization" }?.value
    }
    var values = [value()]
    for location in locations {
      guard case .follow(let next) = RedirectDecision(hop, to: location) else {
        Issue.record("refused: \(location)")
        continue
      }
      hop = next
      values.append(value())
    }
    return values
  }

  @Test func `only the origin that stated a validator is sent it`() throws {
    func conditions(_ url: String, _ origin: String?, _ locations: String...) throws -> [String?] {
      let request = TaskRequest(
        url: url,
        recordID: "r",
        offset: 4,
        validator: "\"1\"",
        validatorOrigin: origin
      )
      var hop = try PreparedRequest(request)
      var hops = [hop]
      for location in locations {
        guard case .follow(let next) = RedirectDecision(hop, to: location) else { continue }
        hop = next
        hops.append(hop)
      }
      #expect(hops.allSatisfy { $0.fields.contains { $0.name == "Range" } })
      return hops.map { $0.fields.first { $0.name == "If-Range" }?.value }
    }
    let tag = "\"1\""
    #expect(try conditions("http://h/", nil, "/a", "http://h:80/b") == [tag, tag, tag])
    for other in ["http://g/", "https://h/", "http://h:81/", "//g/"] {
      #expect(try conditions("http://h/", nil, other, "http://h/x") == [tag, nil, tag])
    }
    #expect(try conditions("https://h/", "https://cdn:443", "https://cdn/x") == [nil, tag])
    #expect(try conditions("https://h/", "https://cdn:443", "https://b.cdn/x") == [nil, nil])
  }

  @Test func `user info becomes credentials of its origin`() throws {
    let basic = "Basic dXNlcjpwQHM6cw=="  // user:p@s:s
    #expect(try authorization("http://user:p%40s:s@h/") == [basic])
    #expect(try authorization("http://user:p@s:s@h/") == [basic])
    #expect(try authorization("http://h/") == [nil])
    #expect(try authorization("http://@h/") == [nil])
    #expect(try authorization("http://user@h/") == ["Basic dXNlcjo="])
    #expect(try authorization("http://us%3Aer@h/") == ["Basic dXM6ZXI6"])
    #expect(try authorization("http://%C9:%2525@h/") == ["Basic yTolMjU="])
    #expect(try authorization("http://user:p%40s:s@h/", given: "Bearer x") == ["Bearer x"])
  }

  @Test func `credentials of a URL stay with its origin`() throws {
    let basic = "Basic dTpw"
    #expect(
      try authorization("http://u:p@h/", "/a", "http://h:80/b", "https://h/", "http://h/")
        == [basic, basic, basic, nil, nil]
    )
    #expect(try authorization("http://u:p@h/", "http://g/", "//h/") == [basic, nil, nil])
    #expect(
      try authorization("http://u:p@h/", "http://v:w@g/", "/x", "http://h/")
        == [basic, "Basic djp3", "Basic djp3", nil]
    )
    #expect(
      try authorization("http://h/", "http://v:w@h/", given: "Bearer x") == [
        "Bearer x", "Bearer x",
      ]
    )
  }

  @Test func `the client certificate is shown only to its origin, and not after it was left`()
    throws
  {
    func shows(
      _ url: String,
      for credentialURL: String? = nil,
      _ locations: String...
    ) throws
      -> [Bool]
    {
      let request = TaskRequest(url: url, recordID: "r", credentialURL: credentialURL)
      var hop = try PreparedRequest(request)
      var values = [hop.showsCertificate]
      for location in locations {
        guard case .follow(let next) = RedirectDecision(hop, to: location) else { continue }
        hop = next
        values.append(hop.showsCertificate)
      }
      return values
    }
    #expect(try shows("https://h/", "/a", "https://h:443/b") == [true, true, true])
    #expect(try shows("https://h/", "https://g/", "https://h/") == [true, false, false])
    #expect(try shows("https://h/", "https://h:8443/") == [true, false])
    #expect(try shows("https://mirror/", for: "https://h/a", "https://h/") == [false, false])
    #expect(try shows("https://h/x", for: "https://h:443") == [true])
  }

  @Test(arguments: [
    "ftp://me:hush@h/x?token=hush", "http:///x?token=hush", "http://[x/?sig=hush",
    "//me:hush@[h/x?sig=hush", "data:hush", "http://me:hush@/?X-Amz-Signature=hush",
    "http:/me:hush@h/x", "http:me:hush@h/x?token=hush", "https:///me:hush@h/",
    "http:\\\\me:hush@h/",
    "http:/me:hu/sh:hush@h", "https://me:hu/hush@h:x/", "///me:hush@h:99999/", "//me:hush@h:x/",
    "http://me:hush@h/\u{FFFD}", "//me:hush@h/\u{FFFD}?sig=hush",
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
