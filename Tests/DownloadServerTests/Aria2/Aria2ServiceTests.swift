import DownloadSync
import Foundation
import ObjectStore
import RecordTestSupport
import TestSupport
import Testing

@testable import DownloadServer
@testable import DownloadStore

/// The methods of aria2's JSON-RPC on a real store.
@Suite struct Aria2ServiceTests {
  let fixture: Aria2Fixture
  let url = "https://example.com/a.iso"

  init() throws { fixture = try Aria2Fixture() }

  private func status(_ gid: String, _ keys: String = "") throws -> JSONValue {
    try fixture.result("aria2.tellStatus", #""\#(gid)"\#(keys)"#)
  }

  @Test func `the answers of one request are limited in size`() {
    var budget = AnswerBudget()
    #expect(budget.allowsMore)
    budget.add(.array([.string(String(repeating: "x", count: AnswerBudget.limit))]))
    #expect(!budget.allowsMore)
  }

  // MARK: Adding

  @Test func `addUri stores a download with its options`() throws {
    let options = #"""
      {"dir":"sub", "out":"b/x.iso", "split":"16", "max-connection-per-server":"3",
       "max-download-limit":"500K", "checksum":"sha-1=0123456789012345678901234567890123456789",
       "header":["Accept: a", "X-Key: k"], "referer":"*", "user-agent":"me", "pause":"true",
       "http-user":"u", "http-passwd":"p", "gid":"00000000000000AB", "bt-max-peers":"5"}
      """#
    let gid = try fixture.result(
      "aria2.addUri",
      #"["\#(url)","https://m.example/a","ftp://x/y","\#(url)"], \#(options)"#
    )
    #expect(gid.string == "00000000000000ab")
    let record = try fixture.record(url)
    #expect(record.folder == "sub/b" && record.filename == "x.iso")
    #expect(record.mirrors == ["https://m.example/a"])
    // 3 for each of two servers, and at most 16.
    #expect(record.connections == 6 && record.bytesPerSecond == 512_000)
    #expect(record.expectedDigest == "sha1:0123456789012345678901234567890123456789")
    #expect(record.state == .paused)
    #expect(
      try fixture.store.headers(of: record) == [
        HeaderField(name: "Accept", value: "a"), HeaderField(name: "X-Key", value: "k"),
        HeaderField(name: "Referer", value: url), HeaderField(name: "User-Agent", value: "me"),
        HeaderField(name: "Authorization", value: "Basic dTpw"),
      ]
    )
  }

  @Test(arguments: [
    (#"{"dir":"/etc"}"#, "is in no folder of this store"),
    (#"{"dir":"../x"}"#, "must be relative"), (#"{"dir":".ssh"}"#, "'.ssh' is hidden"),
    (#"{"out":"a/"}"#, "is not a file name"), (#"{"all-proxy":"http://p:1"}"#, "all-proxy"),
    (#"{"header":"nothing"}"#, "Name: value"), (#"{"split":"0"}"#, "number from 1"),
    (#"{"checksum":"crc32=00"}"#, "checksum"), (#"{"max-download-limit":"fast"}"#, "byte count"),
    (#"{"out":{"a":1}}"#, "out: the value must be a string"),
    (#"{"dir":["a"]}"#, "dir: the value must be a string"),
    (#"{"header":[{}]}"#, "header: the value must be a string"),
    (#"{"header":["A: b",[["C: d"]]]}"#, "header: the value must be a string"),
    (#"{"gid":1}"#, "16 hexadecimal digits"),
  ])
  func `an option that cannot be honoured is an error, and adds nothing`(
    options: String,
    reason: String
  ) throws {
    let message = fixture.message("aria2.addUri", #"["\#(url)"],\#(options)"#)
    #expect(message?.contains(reason) == true, "\(message ?? "none")")
    #expect(try fixture.store.records().isEmpty)
  }

  @Test func `numbers, truth values and null are accepted as clients send them`() throws {
    let options =
      #"{"split":3,"pause":true,"max-download-limit":2048,"out":null,"header":null,"seed-time":{}}"#
    _ = try fixture.result("aria2.addUri", #"["\#(url)"],\#(options)"#)
    let record = try fixture.record(url)
    #expect(record.connections == 3 && record.bytesPerSecond == 2048 && record.state == .paused)
    let message = fixture.message(
      "aria2.changeGlobalOption",
      #"{"max-overall-download-limit":{"a":1}}"#
    )
    #expect(message?.hasPrefix("max-overall-download-limit: ") == true, "\(message ?? "none")")
  }

  @Test func `an empty header field is ignored, and the others are kept`() throws {
    for fields in [#"["A: b","","C: d"]"#, #"["A: b","C: d",""]"#, #"["","A: b",null,"C: d"]"#] {
      let url = "http://h.example/\(fields.utf8.count)"
      _ = try fixture.result("aria2.addUri", #"["\#(url)"],{"header":\#(fields)}"#)
      let headers = try fixture.store.headers(of: fixture.record(url))
      #expect(headers.map(\.name) == ["A", "C"] && headers.map(\.value) == ["b", "d"])
    }
  }

  @Test func `a GID that a download has is not given again`() throws {
    let gid = "0123456789abcdef"
    _ = try fixture.result("aria2.addUri", #"["\#(url)"],{"gid":"\#(gid)"}"#)
    for other in [url, "http://h.example/other"] {
      let options = #"{"gid":"\#(gid.uppercased())"}"#
      let message = fixture.message("aria2.addUri", #"["\#(other)"],\#(options)"#)
      #expect(message == "GID \(gid) is not unique.")
    }
    #expect(try fixture.store.records().count == 1)
  }

  @Test func `dir may be any folder of the store`() throws {
    let root = fixture.folder.path("big")
    let name = try fixture.store.root(at: root)
    _ = try fixture.result("aria2.addUri", #"["\#(url)"],{"dir":"\#(root)/./isos/","out":"a"}"#)
    let record = try fixture.record(url)
    #expect(record.root == name && record.folder == "isos")
    #expect(try status(record.id)["dir"]?.string == "\(root)/isos")
    #expect(
      fixture.message("aria2.addUri", #"["\#(url)"],{"dir":"\#(root)/../x"}"#)?.contains("dir")
        == true
    )
  }

  @Test func `addMetalink adds the files of a document`() throws {
    let document = """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a.bin"><size>5</size>
      <hash type="sha-256">\(String(repeating: "0", count: 64))</hash>
      <url>\(url)</url></file><file name="b.bin"><url>https://example.com/b</url></file></metalink>
      """
    let gids = try fixture.result(
      "aria2.addMetalink",
      #""\#(Data(document.utf8).base64EncodedString())",{"pause":"true"}"#
    )
    #expect(gids.list.count == 2)
    let record = try fixture.record(url)
    #expect(record.filename == "a.bin" && record.state == .paused)
    #expect(fixture.message("aria2.addMetalink", #""AA==""#) != nil)
    #expect(fixture.message("aria2.addMetalink", #""?""#)?.contains("Base64") == true)
  }

  @Test func `a position beyond the queue is its end`() throws {
    let document = """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a.bin"><url>\(url)</url></file>
      <file name="b.bin"><url>https://example.com/b</url></file></metalink>
      """
    let first = try fixture.add("https://example.com/first")
    let gids = try fixture.result(
      "aria2.addMetalink",
      #""\#(Data(document.utf8).base64EncodedString())",{},\#(Int.max)"#
    )
    let added = gids.list.compactMap(\.string)
    #expect(added.count == 2)
    #expect(try fixture.result("aria2.tellWaiting", "0,10").gids == first + added)
  }

  // MARK: Commands

  @Test func `a retry of AriaNg continues the record, which it cannot remove then`() throws {
    let gid = try fixture.add(url, "https://example.com/other") {
      $0.headers = [HeaderField(name: "Authorization", value: "Bearer x")]
      $0.mirrors = ["https://m.example/a"]
    }[0]
    try fixture.fail(url)
    let failed = try status(gid)
    #expect(failed["status"]?.string == "error" && failed["errorCode"]?.string == "3")
    // As AriaNg does: the URLs and the options of the old download, then its removal.
    let urls = try #require(failed["files"]).list[0]["uris"]?.list.compactMap { $0["uri"]?.string }
    #expect(urls == [url, "https://m.example/a"])
    let options = try fixture.result("aria2.getOption", #""\#(gid)""#)
    #expect(options["header"] == nil, "a secret is not shown")
    var bytes: [UInt8] = []
    options.write(to: &bytes)
    let again = try fixture.result(
      "aria2.addUri",
      #"["\#(url)","https://m.example/a"],\#(String(decoding: bytes, as: UTF8.self))"#
    )
    #expect(again.string == gid)
    #expect(
      fixture.message("aria2.removeDownloadResult", #""\#(gid)""#)
        == "Could not remove download result of GID#\(gid)"
    )
    let record = try fixture.record(url)
    #expect(record.state == .waiting)
    #expect(try fixture.store.headers(of: record).count == 1, "the header fields stay")
    // It may fail again before the removal arrives.
    try fixture.fail(url)
    #expect(fixture.message("aria2.removeDownloadResult", #""\#(gid)""#) != nil)
  }

  @Test func `pause, unpause, remove and removeDownloadResult follow the states of aria2`() throws {
    let gid = try fixture.add(url)[0]
    let name = #""\#(gid)""#
    #expect(fixture.message("aria2.unpause", name) == "GID#\(gid) cannot be unpaused now")
    #expect(try fixture.result("aria2.pause", name).string == gid)
    #expect(try status(gid)["status"]?.string == "paused")
    #expect(fixture.message("aria2.forcePause", name) == "GID#\(gid) cannot be paused now")
    #expect(try fixture.result("aria2.unpause", name).string == gid)
    #expect(try status(gid)["status"]?.string == "waiting")
    #expect(try fixture.result("aria2.remove", name).string == gid)
    // Also before the cancellation is carried out.
    #expect(try status(gid)["status"]?.string == "removed")
    #expect(
      fixture.message("aria2.forceRemove", name)?.contains("Active Download not found") == true
    )
    #expect(try fixture.result("aria2.removeDownloadResult", name).string == "OK")
    #expect(fixture.message("aria2.tellStatus", name) == "GID \(gid) is not found")
    #expect(fixture.message("aria2.tellStatus", #""xyz""#)?.contains("Invalid GID") == true)
  }

  @Test func `a prefix of a GID identifies a download unless two have it`() throws {
    try fixture.add(url) { $0.id = "ab00000000000001" }
    try fixture.add(url + "2") { $0.id = "ab00000000000002" }
    #expect(fixture.message("aria2.tellStatus", #""ab""#) == "GID ab is not unique")
    #expect(try status("AB00000000000001")["gid"]?.string == "ab00000000000001")
  }

  @Test func `pauseAll and unpauseAll leave failed downloads alone`() throws {
    try fixture.add(url, "https://example.com/b")
    try fixture.fail(url)
    _ = try fixture.result("aria2.pauseAll")
    #expect(try fixture.record("https://example.com/b").state == .paused)
    _ = try fixture.result("aria2.unpauseAll")
    #expect(try fixture.record("https://example.com/b").state == .waiting)
    #expect(try fixture.record(url).state == .failedPermanent)
  }

  @Test func `purgeDownloadResult removes stopped records only`() throws {
    try fixture.add(url, "https://example.com/b")
    try fixture.fail(url)
    _ = try fixture.result("aria2.purgeDownloadResult")
    #expect(try fixture.store.records().map(\.url) == ["https://example.com/b"])
  }

  // MARK: Lists

  @Test func `the lists have what runs, what waits and what stopped`() throws {
    let urls = (0..<5).map { "https://example.com/\($0)" }
    let gids = try urls.flatMap { try fixture.add($0) }
    try fixture.change(urls[0]) {
      $0.take(.started(keepingBytes: true))
      $0.received = 3 << 20
      $0.expected = 10 << 20
    }
    try fixture.fail(urls[1])
    try fixture.fail(urls[2])
    _ = try fixture.store.apply(.pause, to: .named([urls[3]]))
    // Without an engine, nothing is active.
    #expect(try fixture.result("aria2.tellActive").gids == [])
    #expect(try fixture.result("aria2.tellWaiting", "0,1000").gids == [gids[0], gids[4], gids[3]])
    let lock = try EngineLock(storePath: fixture.store.path)
    let live = Aria2Service.Live(bytesPerSecond: 1_500.7) { $0 == gids[0] ? 1_500.7 : nil }
    let active = try fixture.result("aria2.tellActive", "", live).list
    #expect(active.count == 1)
    #expect(active[0]["downloadSpeed"]?.string == "1500")
    #expect(active[0]["bitfield"]?.string == "e000" && active[0]["numPieces"]?.string == "10")
    #expect(active[0]["connections"]?.string == "1")
    #expect(try fixture.result("aria2.tellWaiting", "0,1000").gids == [gids[4], gids[3]])
    #expect(try fixture.result("aria2.tellWaiting", "-1,2").gids == [gids[3], gids[4]])
    #expect(try fixture.result("aria2.tellStopped", "0,1000").gids == [gids[1], gids[2]])
    #expect(try fixture.result("aria2.tellStopped", "-1,1000").gids == [gids[2], gids[1]])
    #expect(
      try fixture.result("aria2.tellStopped", #"-1,1,["gid"]"#).list == [["gid": .string(gids[2])]]
    )
    #expect(fixture.message("aria2.tellStopped", "0,-1") != nil)
    let servers = try fixture.result("aria2.getServers", #""\#(gids[0])""#, live)
    #expect(servers.list[0]["servers"]?.list[0]["downloadSpeed"]?.string == "1500")
    #expect(fixture.message("aria2.getServers", #""\#(gids[4])""#)?.contains("No active") == true)
    #expect(
      try fixture.result("aria2.getGlobalStat", "", live) == [
        "downloadSpeed": .string("1500"), "numActive": .string("1"), "numStopped": .string("2"),
        "numStoppedTotal": .string("2"), "numWaiting": .string("2"), "uploadSpeed": .string("0"),
      ]
    )
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: [true, false])
  func `no answer shows the secret of a mirror or of a header field`(
    allowsChanges: Bool
  ) throws {
    let fixture = try Aria2Fixture(allowsChanges: allowsChanges)
    let mirrors = ["https://m:hush@h.example/z", "https://m.example/z"]
    let gid = try fixture.add(url) {
      $0.mirrors = mirrors
      $0.headers = [HeaderField(name: "Referer", value: "http://u:hush@h.example/")]
    }[0]
    try fixture.change(url) {
      $0.fail(DownloadFailure(.notFound, "no \(url)"), from: url, at: Date()) { _ in .zero }
      $0.take(.started(keepingBytes: true))
    }
    let lock = try EngineLock(storePath: fixture.store.path)
    let methods = [
      "tellStatus", "getFiles", "getUris", "getServers", "getOption", "tellActive", "tellWaiting",
      "tellStopped",
    ]
    for method in methods {
      let parameters =
        switch method {
        case "tellActive": ""
        case "tellWaiting", "tellStopped": "0,9"
        default: #""\#(gid)""#
        }
      let answer = fixture.answer("aria2.\(method)", parameters)
      #expect(answer.status == 200)
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("hush"), "\(method)")
    }
    let server = try fixture.result("aria2.getServers", #""\#(gid)""#).list[0]["servers"]?.list[0]
    #expect(server?["currentUri"]?.string == Redaction.url(mirrors[0]))
    let uris = try fixture.result("aria2.getUris", #""\#(gid)""#).list
      .compactMap { $0["uri"]?.string }
    #expect(uris == [url, mirrors[1]], "what is left out, a retry does not add")
    #expect(try fixture.record(url).mirrors == mirrors)
    withExtendedLifetime(lock) {}
  }

  @Test func `every value of a status is a string, or a list of files`() throws {
    let gid = try fixture.add(url)[0]
    try fixture.change(url) {
      $0.take(.started(keepingBytes: true))
      $0.expected = 5
      $0.received = 5
      $0.take(.completed())
    }
    guard case .object(let members) = try status(gid) else {
      Issue.record("no object")
      return
    }
    for member in members where member.name != "files" {
      #expect(member.value.string != nil, "\(member.name)")
    }
    let status = try status(gid)
    #expect(status["status"]?.string == "complete" && status["bitfield"]?.string == "80")
    #expect(status["totalLength"]?.string == "5" && status["errorCode"]?.string == "0")
    let path = try fixture.store.roots().layout(of: fixture.record(url)).finalPath
    #expect(
      status["files"]
        == .array([
          [
            "completedLength": .string("5"), "index": .string("1"), "length": .string("5"),
            "path": .string(path), "selected": .string("true"),
            "uris": .array([["status": .string("used"), "uri": .string(url)]]),
          ]
        ])
    )
    #expect(try fixture.result("aria2.getFiles", #""\#(gid)""#) == status["files"])
    #expect(try fixture.result("aria2.getPeers", #""\#(gid)""#).list.isEmpty)
  }

  // MARK: Changes

  @Test func `changePosition reorders the queue`() throws {
    let urls = (0..<4).map { "https://example.com/\($0)" }
    let gids = try urls.flatMap { try fixture.add($0) }
    func order() throws -> [Int] {
      try fixture.result("aria2.tellWaiting", "0,10").gids.compactMap { gids.firstIndex(of: $0) }
    }
    #expect(try order() == [0, 1, 2, 3])
    let name = { (index: Int) in #""\#(gids[index])""# }
    #expect(try fixture.result("aria2.changePosition", #"\#(name(3)),0,"POS_SET""#) == .number("0"))
    #expect(try order() == [3, 0, 1, 2])
    #expect(
      try fixture.result("aria2.changePosition", #"\#(name(2)),-1,"POS_CUR""#) == .number("2")
    )
    #expect(try order() == [3, 0, 2, 1])
    #expect(try fixture.result("aria2.changePosition", #"\#(name(3)),0,"POS_END""#) == .number("3"))
    #expect(try order() == [0, 2, 1, 3])
    for origin in ["POS_SET", "POS_CUR", "POS_END"] {
      for (position, expected) in [(Int.max, "3"), (Int.min, "0")] {
        #expect(
          try fixture.result("aria2.changePosition", #"\#(name(3)),\#(position),"\#(origin)""#)
            == .number(expected)
        )
      }
    }
    #expect(try order() == [3, 0, 2, 1])
    #expect(
      fixture.message("aria2.changePosition", #"\#(name(3)),0,"NOWHERE""#) == "Illegal argument."
    )
    let new = try fixture.result("aria2.addUri", #"["https://example.com/new"],{},1"#)
    #expect(try fixture.result("aria2.tellWaiting", "1,1").gids == [new.string ?? ""])
  }

  @Test func `changeOption changes limits, connections and the name`() throws {
    let gid = try fixture.add(url)[0]
    let change = { (options: String) in #""\#(gid)",\#(options)"# }
    _ = try fixture.result(
      "aria2.changeOption",
      change(#"{"max-download-limit":"20K","split":"3","out":"new.iso"}"#)
    )
    let record = try fixture.record(url)
    #expect(record.bytesPerSecond == 20_480 && record.connections == 3)
    #expect(record.filename == "new.iso")
    _ = try fixture.result("aria2.changeOption", change(#"{"max-download-limit":"0"}"#))
    #expect(try fixture.record(url).bytesPerSecond == nil)
    for options in [#"{"header":"A: b"}"#, #"{"dir":"/x"}"#, #"{"out":"a/b"}"#] {
      #expect(fixture.message("aria2.changeOption", change(options)) != nil, "\(options)")
    }
    let options = try fixture.result("aria2.getOption", #""\#(gid)""#)
    #expect(options["out"]?.string == "new.iso" && options["split"]?.string == "3")
  }

  @Test func `the overall limit is that of the store`() throws {
    _ = try fixture.result("aria2.changeGlobalOption", #"{"max-overall-download-limit":"2M"}"#)
    #expect(try fixture.store.rateLimit() == 2 << 20)
    let options = try fixture.result("aria2.getGlobalOption")
    #expect(options["max-overall-download-limit"]?.string == "2097152")
    #expect(options["dir"]?.string == fixture.store.path + "/files")
    _ = try fixture.result("aria2.changeGlobalOption", #"{"max-overall-download-limit":"0"}"#)
    #expect(try fixture.store.rateLimit() == nil)
    let message = fixture.message("aria2.changeGlobalOption", #"{"max-concurrent-downloads":"9"}"#)
    #expect(message?.contains("dlstore run") == true)
  }

  @Test func `changeUri replaces an expired link and keeps the record`() throws {
    let gid = try fixture.add(url) { $0.mirrors = ["https://m.example/1"] }[0]
    let name = #""\#(gid)",1"#
    #expect(
      try fixture.result("aria2.changeUri", #"\#(name),["\#(url)"],["https://new.example/a"],0"#)
        == .array([.number("1"), .number("1")])
    )
    let record = try fixture.record("https://new.example/a")
    #expect(record.id == gid && record.mirrors == ["https://m.example/1"])
    #expect(try fixture.result("aria2.getUris", #""\#(gid)""#).list.count == 2)
    let all = #"\#(name),["https://new.example/a","https://m.example/1"],[]"#
    #expect(fixture.message("aria2.changeUri", all)?.contains("no URL") == true)
    #expect(
      fixture.message("aria2.changeUri", #""\#(gid)",2,[],[]"#) == "fileIndex is out of range"
    )
  }
}
