import Foundation
import ObjectStore
import Testing

@testable import DownloadServer

/// The envelope of calls: ids, batches, tokens, errors, GET.
@Suite struct Aria2CallTests {
  let fixture: Aria2Fixture

  init() throws { fixture = try Aria2Fixture() }

  private func text(_ answer: Aria2Answer) -> String {
    String(decoding: answer.body, as: UTF8.self)
  }

  @Test func `an answer repeats the id, whatever it is`() throws {
    for id in [#""a""#, "7", "null", "[1]"] {
      let body = #"{"id":\#(id),"method":"system.listNotifications"}"#
      let answer = fixture.answer(body: body)
      #expect(answer.status == 200)
      #expect(text(answer) == #"{"id":\#(id),"jsonrpc":"2.0","result":[]}"#)
    }
  }

  @Test(arguments: [
    ("{", 500, -32_700), ("7", 400, -32_600), ("{}", 400, -32_600), (#"{"id":1}"#, 400, -32_600),
    (#"{"id":1,"method":7}"#, 400, -32_600),
    (#"{"id":1,"method":"aria2.getVersion","params":{}}"#, 500, -32_602),
    (#"{"id":1,"method":"aria2.getVersion"}"#, 400, 1),
  ])
  func `an invalid request has the code and the status of aria2`(
    body: String,
    status: Int,
    code: Int
  ) {
    let answer = fixture.answer(body: body)
    #expect(answer.status == status)
    #expect(answer.json["error"]?["code"] == .number(String(code)))
  }

  @Test func `every method but three needs the token`() {
    for method in Aria2Method.allCases {
      for token in ["", #""token:""#, #""token:x""#, #""0123456789abcdef""#] {
        let body = #"{"id":1,"method":"\#(method.rawValue)","params":[\#(token)]}"#
        let message = fixture.answer(body: body).json["error"]?["message"]?.string
        let isOpen = [.multicall, .listMethods, .listNotifications].contains(method)
        #expect((message == "Unauthorized") == !isOpen, "\(method) \(token)")
      }
    }
    let unknown = #"{"id":1,"method":"aria2.nothing"}"#
    #expect(fixture.answer(body: unknown).json["error"]?["message"]?.string == "Unauthorized")
    #expect(fixture.message("aria2.nothing") == "No such method: aria2.nothing")
  }

  @Test func `a batch has one answer for each call, and the status 200`() throws {
    let call = #"{"id":1,"method":"system.listNotifications"}"#
    let answer = fixture.answer(body: #"[\#(call),7,{"id":2,"method":"aria2.getVersion"}]"#)
    #expect(answer.status == 200)
    #expect(answer.json.list.count == 2)
    #expect(answer.json.list[1]["error"]?["message"]?.string == "Unauthorized")
    let many = "[" + Array(repeating: call, count: 1_001).joined(separator: ",") + "]"
    #expect(fixture.answer(body: many).status == 400)
  }

  @Test func `multicall wraps each result, and each call has its own token`() throws {
    let calls = #"""
      [[{"methodName":"aria2.getVersion","params":["token:0123456789abcdef"]},
        {"methodName":"aria2.getVersion","params":["token:wrong"]},
        {"methodName":"system.multicall","params":[[]]}, {"params":[]}, 7]]
      """#
    let body = #"{"id":1,"method":"system.multicall","params":\#(calls)}"#
    let results = try #require(fixture.answer(body: body).json["result"]).list
    #expect(results[0].list[0]["version"]?.string == "1.37.0")
    #expect(
      results.dropFirst().map { $0["message"]?.string } == [
        "Unauthorized", "Recursive system.multicall forbidden.", "Missing methodName.",
        "system.multicall expected struct.",
      ]
    )
  }

  @Test func `a request has a greatest number of calls, with those of multicall, and of values`() {
    func list(_ element: String, _ count: Int) -> String {
      "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }
    func call(_ method: String, _ parameter: String) -> String {
      #"{"id":1,"method":"\#(method)","params":[\#(parameter)]}"#
    }
    func multicall(_ count: Int) -> String { call("system.multicall", list("{}", count)) }
    for body in [multicall(1_000), list(multicall(500), 2), list("7", 1_000)] {
      #expect(fixture.answer(body: body).status == 200)
    }
    let unread = [
      list("7", 1_000_000), call("aria2.getVersion", list("0", 100_002)),
      #"["\#(String(repeating: "\\n", count: 100_001))"]"#,
      // It is not parsed, so that it is no error that it is not JSON.
      String(repeating: ",", count: 100_001),
    ]
    for body in unread + [multicall(1_001), list(multicall(501), 2), list("7", 1_001)] {
      let error = fixture.answer(body: body).json["error"]
      let message = "a request has at most 1000 calls, and 100000 values"
      #expect(error?["message"]?.string == message, "\(body.prefix(100))")
    }
  }

  @Test func `a GET request has its parameters in Base64`() throws {
    let parameters = Data(#"["token:0123456789abcdef"]"#.utf8).base64EncodedString()
    for encoded in [
      parameters.replacing("=", with: "%3D"), parameters.replacing("=", with: ""),
    ] {
      let request = Aria2Request(query: [
        ("method", "aria2.getVersion"), ("id", "a%20b"), ("params", encoded[...]),
      ])
      let answer = fixture.answer(request)
      #expect(answer.status == 200)
      #expect(answer.json["id"]?.string == "a b")
    }
    let batch = Data(#"[{"id":1,"method":"system.listMethods"}]"#.utf8).base64EncodedString()
    let request = Aria2Request(query: [("params", batch[...])])
    #expect(fixture.answer(request).json.list.count == 1)
    #expect(Aria2Request(query: []) == .invalid)
    #expect(Aria2Request(query: [("method", "x"), ("params", "%%")]) == .syntaxError)
  }

  @Test func `a read-only server refuses every change`() throws {
    let fixture = try Aria2Fixture(allowsChanges: false)
    let gid = try fixture.add("https://example.com/a")[0]
    for method in Aria2Method.allCases where method.isChange {
      let message = fixture.message(method.rawValue, #""\#(gid)""#)
      #expect(message?.contains("--allow-changes") == true, "\(method)")
    }
    #expect(try fixture.result("aria2.tellStatus", #""\#(gid)""#)["status"]?.string == "waiting")
  }

  @Test func `what has no counterpart answers an error that says why`() throws {
    #expect(fixture.message("aria2.addTorrent", #""AA==""#)?.contains("BitTorrent") == true)
    #expect(fixture.message("aria2.shutdown")?.contains("dlstore serve") == true)
    #expect(
      fixture.message("aria2.addUri", #"["magnet:?xt=urn:btih:1"]"#)?.contains("https") == true
    )
    #expect(fixture.message("aria2.addUri", "[]") == "URI is not provided.")
    #expect(fixture.message("aria2.addUri") == "The parameter at 0 is required but missing.")
    #expect(fixture.message("aria2.addUri", "7") == "The parameter at 0 has wrong type.")
    #expect(try fixture.result("aria2.saveSession").string == "OK")
    #expect(try fixture.result("aria2.getSessionInfo")["sessionId"]?.string?.count == 40)
    #expect(try fixture.result("system.listMethods").list.count == Aria2Method.allCases.count)
  }
}
