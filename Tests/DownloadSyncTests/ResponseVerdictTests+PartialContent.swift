import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

// Responses to requests of a range.

extension ResponseVerdictTests {
  // MARK: 206

  @Test(arguments: [
    ("bytes 4-9/10", "write 4 of 10"),
    ("bytes 4-9/*", "write 4 of 10"),
    ("Bytes  4-9/10", "write 4 of 10"),
    ("bytes 4-4/10", "write 4 of 10"),
    // An earlier range is written at its own offset; a later one would leave a gap.
    ("bytes 0-9/10", "write 0 of 10"),
    ("bytes 3-9/10", "write 3 of 10"),
    ("bytes 5-9/10", "again: badResponse"),
    ("bytes 0-3/10", "again: badResponse"),
    ("bytes 0-2/10", "again: badResponse"),
    // Another total size.
    ("bytes 4-9/11", "again: entityChanged"),
    ("bytes 4-8/9", "again: entityChanged"),
    // Invalid ranges.
    ("bytes 4-9/9", "again: badResponse"),
    ("bytes 9-4/10", "again: badResponse"),
    ("bytes -9/10", "again: badResponse"),
    ("bytes 4-/10", "again: badResponse"),
    ("bytes 4-9", "again: badResponse"),
    ("bytes 4-9/10/10", "again: badResponse"),
    ("bytes 4--9/10", "again: badResponse"),
    ("bytes +4-9/10", "again: badResponse"),
    ("bytes */10", "again: badResponse"),
    ("bytes */*", "again: badResponse"),
    ("bytes 4-99999999999999999999/*", "again: badResponse"),
    ("bytes 4-9223372036854775807/*", "again: badResponse"),
    ("items 4-9/10", "again: badResponse"),
    ("bytes=4-9/10", "again: badResponse"),
    ("", "again: badResponse"),
  ]) func `a 206 response is written at the offset of its Content-Range`(
    range: String,
    expected: String
  ) {
    let fields = ["Content-Range": range, "ETag": "\"x\""]
    #expect(kind(verdict(206, fields, offset: 4, expected: 10, tag: "\"x\"")) == expected)
  }

  @Test func `a 206 response without Content-Range is a bad response`() {
    #expect(kind(verdict(206, offset: 4, expected: 10)) == "again: badResponse")
    let parts = ["Content-Type": "multipart/byteranges; boundary=x"]
    #expect(kind(verdict(206, parts, offset: 4, expected: 10)) == "again: badResponse")
    #expect(kind(verdict(206)) == "fail: badResponse")
  }

  @Test func `a 206 response without a requested range is used from its first byte`() {
    #expect(kind(verdict(206, ["Content-Range": "bytes 0-9/10"])) == "write 0 of 10")
    // A restarted download may get another size and entity tag.
    let other = verdict(
      206,
      ["Content-Range": "bytes 0-9/10", "ETag": "\"y\""],
      expected: 7,
      tag: "\"x\""
    )
    #expect(kind(other) == "write 0 of 10")
    #expect(kind(verdict(206, ["Content-Range": "bytes 1-9/10"])) == "fail: badResponse")
  }

  @Test func `an unknown size is learned from the response`() {
    let range = ["Content-Range": "bytes 4-9/10", "ETag": "\"x\""]
    #expect(kind(verdict(206, range, offset: 4, tag: "\"x\"")) == "write 4 of 10")
    let unknown = ["Content-Range": "bytes 4-9/*", "ETag": "\"x\""]
    #expect(kind(verdict(206, unknown, offset: 4, tag: "\"x\"")) == "again: badResponse")
  }

  @Test(
    arguments: [
      // ours: tag, date; theirs: tag, date; whether the bytes continue
      ("\"x\"", nil, "\"x\"", nil, true),
      ("\"x\"", nil, "\"y\"", nil, false),
      ("\"x\"", nil, "W/\"x\"", nil, false),
      ("\"\u{E9}\"", nil, "\"e\u{301}\"", nil, false),
      ("\"x\"", nil, "\"x-gzip\"", nil, false),
      ("\"x\"", date, nil, date, true),
      ("\"x\"", date, "\"x\"", otherDate, true),
      ("\"x\"", date, nil, otherDate, false),
      ("W/\"x\"", date, "W/\"y\"", date, true),
      ("W/\"x\"", date, "W/\"x\"", otherDate, false),
      (nil, date, nil, date, true),
      (nil, date, "\"y\"", date, true),
      (nil, date, nil, otherDate, false),
      (nil, date, nil, nil, true),
      (nil, nil, "\"y\"", otherDate, true),
    ] as [(String?, String?, String?, String?, Bool)]
  )
  func `a part of another entity is not appended to the stored bytes`(
    tag: String?,
    date: String?,
    theirTag: String?,
    theirDate: String?,
    goesOn: Bool
  ) {
    var fields = ["Content-Range": "bytes 4-9/10"]
    fields["ETag"] = theirTag
    fields["Last-Modified"] = theirDate
    let part = verdict(206, fields, offset: 4, expected: 10, tag: tag, date: date)
    #expect(kind(part) == (goesOn ? "write 4 of 10" : "again: entityChanged"))
    // The same applies to the end of a part.
    fields["Content-Range"] = "bytes */4"
    let end = verdict(416, fields, offset: 4, expected: 4, tag: tag, date: date)
    #expect(kind(end) == (goesOn ? "complete" : "again: entityChanged"))
  }

  @Test func `a part does not continue the bytes of a strong entity tag if it has no validator`() {
    let range = ["Content-Range": "bytes 4-9/10"]
    #expect(
      kind(verdict(206, range, offset: 4, expected: 10, tag: "\"x\"")) == "again: entityChanged"
    )
    let dated = ["Content-Range": "bytes 4-9/10", "Last-Modified": Self.date]
    #expect(
      kind(verdict(206, dated, offset: 4, expected: 10, tag: "\"x\"")) == "again: entityChanged"
    )
    // A server need not repeat the date (RFC 9110, 15.3.7), nor anything in an error.
    #expect(kind(verdict(206, range, offset: 4, expected: 10, date: Self.date)) == "write 4 of 10")
    let end = ["Content-Range": "bytes */4"]
    #expect(kind(verdict(416, end, offset: 4, expected: 4, tag: "\"x\"")) == "complete")
  }

  @Test func `without a condition in the request, the response must state the same entity tag`() {
    func kind(_ status: Int, _ fields: [String: String], _ proof: RangeProof) -> String {
      let fields = fields.map { HeaderField(name: $0.key, value: $0.value) }
      let head = ResponseHead(status: status, fields: fields)
      return self.kind(
        ResponseVerdict(head, offset: 4, expected: 10, proof: proof, now: Date())
      )
    }
    let range = "bytes 4-9/10"
    for (tag, answer) in [
      ("\"x\"", "write 4 of 10"), ("\"y\"", "again: entityChanged"),
      (nil, "again: entityChanged"),
    ] {
      var fields = ["Content-Range": range, "Last-Modified": Self.date]
      fields["ETag"] = tag
      #expect(kind(206, fields, .stated("\"x\"")) == answer)
      #expect(kind(206, fields, .digest) == "write 4 of 10")
    }
    // The whole file from a server that ignores ranges: the bytes on disk are skipped.
    let whole = ["Content-Length": "10", "ETag": "\"x\""]
    #expect(kind(200, whole, .stated("\"x\"")) == "write 0 of 10")
    #expect(kind(200, whole, .stated("\"y\"")) == "start over, 10")
    #expect(kind(200, whole, .digest) == "start over, 10")
    #expect(kind(200, ["Content-Length": "0", "ETag": "\"y\""], .digest) == "fail: badResponse")
  }

  @Test(
    arguments: [
      // the origin of the response, tag and date of the bytes on disk, the proof
      ("https://a.example/x", "\"x\"", nil, "unchanged"),
      ("https://a.example:443/x", nil, date, "unchanged"),
      (nil, "\"x\"", nil, "unchanged"),
      ("https://b.example/x", "\"x\"", date, "stated"),
      ("https://a.example:8443/x", "\"x\"", nil, "stated"),
      ("https://b.example/x", nil, date, "nothing"),
      ("https://b.example/x", "W/\"x\"", date, "nothing"),
      // Anyone can change what an unencrypted connection delivers.
      ("http://b.example/x", "\"x\"", nil, "nothing"),
      // The user lets downloads without a validator continue.
      ("https://b.example/x", nil, nil, "unchanged"),
    ] as [(String?, String?, String?, String)]
  )
  func `a response of another server must state a strong entity tag that it was not told`(
    url: String?,
    tag: String?,
    date: String?,
    expected: String
  ) {
    let head = ResponseHead(status: 206, fields: [], url: url)
    let requested = RangeProof.unchanged(Validator(entityTag: tag, lastModified: date))
    let proof = requested.proof(for: head, validatorOrigin: "https://a.example:443")
    let name =
      switch proof {
      case .unchanged: "unchanged"
      case .stated: "stated"
      case .nothing: "nothing"
      case .digest: "digest"
      case .written: "written"
      }
    #expect(name == expected)
    let written = RangeProof.written(.now)
    #expect(written.proof(for: head, validatorOrigin: "https://a.example:443") == written)
    let digest = RangeProof.digest
    #expect(digest.proof(for: head, validatorOrigin: "https://a.example:443") == .digest)
    let stated = RangeProof.stated("\"x\"").proof(
      for: head,
      validatorOrigin: "https://a.example:443"
    )
    #expect(stated == (url?.hasPrefix("http:") == true ? .nothing : .stated("\"x\"")))
  }

  /// The bytes on disk were written this long after the time of the response, which has no fraction.
  @Test(arguments: [
    (-0.1, "again: entityChanged"), (0, "write 4 of 10"), (0.1, "again: entityChanged"),
    (0.9, "again: entityChanged"), (1, "write 4 of 10"), (1.1, "write 4 of 10"),
  ])
  func `without a validator a file that was modified after the bytes were written is another one`(
    seconds: TimeInterval,
    expected: String
  ) throws {
    let modified = try #require(HTTPDate.moment(Self.date, now: .now))
    let proof = RangeProof.written(modified.addingTimeInterval(seconds))
    func kind(_ status: Int, _ fields: [String: String], offset: Int64 = 4) -> String {
      let fields = fields.map { HeaderField(name: $0.key, value: $0.value) }
      let head = ResponseHead(status: status, fields: fields)
      return self.kind(
        ResponseVerdict(head, offset: offset, expected: 10, proof: proof, now: Date())
      )
    }
    let range = ["Content-Range": "bytes 4-9/10"]
    let dated = range.merging(["Last-Modified": Self.date]) { $1 }
    #expect(kind(206, dated) == expected)
    #expect(kind(206, range) == "write 4 of 10")
    #expect(kind(206, range.merging(["Last-Modified": "yesterday"]) { $1 }) == "write 4 of 10")
    let end = ["Content-Range": "bytes */10", "Last-Modified": Self.date]
    #expect(kind(416, end, offset: 10) == (expected.hasPrefix("w") ? "complete" : expected))
  }

  @Test func `without a proof no range is used, and the whole file is`() {
    func kind(_ status: Int, _ fields: [String: String], offset: Int64 = 4) -> String {
      let fields = fields.map { HeaderField(name: $0.key, value: $0.value) }
      let head = ResponseHead(status: status, fields: fields)
      return self.kind(
        ResponseVerdict(head, offset: offset, expected: 10, proof: .nothing, now: Date())
      )
    }
    #expect(
      kind(206, ["Content-Range": "bytes 4-9/10", "Last-Modified": Self.date])
        == "again: entityChanged"
    )
    #expect(kind(206, ["Content-Range": "bytes 0-9/10"], offset: 0) == "write 0 of 10")
    #expect(kind(200, ["Content-Length": "10"]) == "start over, 10")
    #expect(kind(416, ["Content-Range": "bytes */10"], offset: 10) == "again: entityChanged")
  }

  @Test func `without a condition in the request, status 416 must state the same entity tag`() {
    func kind(_ tag: String?, _ proof: RangeProof) -> String {
      var fields = [HeaderField(name: "Content-Range", value: "bytes */4")]
      if let tag { fields.append(HeaderField(name: "ETag", value: tag)) }
      let head = ResponseHead(status: 416, fields: fields)
      return self.kind(
        ResponseVerdict(head, offset: 4, expected: nil, proof: proof, now: Date())
      )
    }
    #expect(kind("\"x\"", .stated("\"x\"")) == "complete")
    #expect(kind("\"y\"", .stated("\"x\"")) == "again: entityChanged")
    // Another version of the file may be exactly as long as the bytes on disk.
    #expect(kind(nil, .stated("\"x\"")) == "again: entityChanged")
    #expect(kind(nil, .digest) == "complete")
  }

  @Test func `a part with a content coding is rejected`() {
    let fields = ["Content-Range": "bytes 4-9/10", "Content-Encoding": "gzip"]
    #expect(kind(verdict(206, fields, offset: 4)) == "fail: unexpectedCoding")
  }

  @Test(
    arguments: [
      (["identity", "gzip"], "fail: unexpectedCoding"),
      (["", "br"], "fail: unexpectedCoding"),
      (["identity, gzip"], "fail: unexpectedCoding"),
      (["identity", "Identity, identity ,"], "write 0 of ?"),
    ]
  )
  func `a content coding is detected in whichever field it is named`(
    values: [String],
    expected: String
  ) {
    let fields = values.map { HeaderField(name: "Content-Encoding", value: $0) }
    let verdict = ResponseVerdict(
      ResponseHead(status: 200, fields: fields),
      offset: 0,
      expected: nil,
      validator: nil,
      now: Date(timeIntervalSince1970: 784_111_777)
    )
    #expect(kind(verdict) == expected)
    if case .fail(let failure, _) = verdict {
      #expect(failure.message.contains("gzip") || failure.message.contains("br"))
    }
  }

  @Test(
    arguments: [
      (["gzip, chunked"], "fail: unexpectedCoding"), (["gzip"], "fail: unexpectedCoding"),
      (["chunked, GZIP"], "fail: unexpectedCoding"), (["chunked", "br"], "fail: unexpectedCoding"),
      (["x-foreign;q=1, chunked"], "fail: unexpectedCoding"), (["chunked"], "write 0 of ?"),
      (["Chunked", "chunked"], "write 0 of ?"), (["identity"], "write 0 of ?"),
      ([", chunked ,"], "write 0 of ?"), (["chunked;x=\"1\""], "write 0 of ?"),
    ]
  )
  func `a body with another transfer coding than chunked is not stored`(
    values: [String],
    expected: String
  ) {
    let fields = values.map { HeaderField(name: "Transfer-Encoding", value: $0) }
    let range = HeaderField(name: "Content-Range", value: "bytes 0-9/10")
    for (status, more) in [(200, []), (206, [range])] {
      let head = ResponseHead(status: status, fields: fields + more)
      let verdict = ResponseVerdict(head, offset: 0, expected: nil, validator: nil, now: Date())
      let isRange = status == 206 && expected.hasPrefix("write")
      #expect(kind(verdict) == (isRange ? "write 0 of 10" : expected))
    }
    let part = TransferResult(
      refusing: ResponseHead(status: 206, fields: fields + [range]),
      ofRange: 0..<10,
      total: 10,
      proof: .digest,
      now: Date()
    )
    #expect((part == nil) == expected.hasPrefix("write"))
  }

  @Test(arguments: [412, 416])
  func `a range that the server does not have discards the bytes, unless a mirror says so`(
    status: Int
  ) {
    for isOfMirror in [false, true] {
      let part = TransferResult(
        refusing: ResponseHead(status: status, fields: []),
        ofRange: 4..<10,
        total: 10,
        proof: .digest,
        isOfMirror: isOfMirror,
        now: Date()
      )
      #expect(part?.failure?.code == .entityChanged && part?.dropsBytes == !isOfMirror)
    }
  }

  @Test func `a message repeats only the harmless start of a field of the server`() {
    let secret = "https://me:hush@h/x?token=hush"
    let long = String(repeating: "a-", count: 5_000)
    for value in [secret, "http:/me:hush@h", "me:hush@h", long] {
      for (status, name) in [
        (200, "Content-Encoding"), (200, "Transfer-Encoding"), (200, "Content-Length"),
      ] {
        guard case .fail(let failure, _) = verdict(status, [name: value]) else {
          Issue.record("\(name): \(value) was accepted")
          continue
        }
        #expect(failure.message.hasPrefix("the response has"))
        #expect(!failure.message.contains("hush"), "\(failure.message)")
        #expect(failure.message.utf8.count < 300)
      }
      let part = TransferResult(
        refusing: ResponseHead(
          status: 206,
          fields: [HeaderField(name: "Content-Range", value: value)]
        ),
        ofRange: 0..<10,
        total: 10,
        proof: .digest,
        now: Date()
      )
      let text = part.map { "\($0)" } ?? "accepted"
      #expect(text.contains("Content-Range") && !text.contains("hush") && text.count < 500)
    }
  }

  // MARK: Web pages

  @Test(
    arguments: [
      ("a.bin", ["Content-Type": "text/html"], true),
      ("a.tar.gz", ["Content-Type": "application/xhtml+xml; charset=utf-8"], true),
      // A page that is another version, and files that may be pages.
      ("a.bin", ["Content-Type": "text/html", "ETag": "\"y\""], false),
      ("a.bin", ["Content-Type": "text/html", "Last-Modified": date], false),
      ("a.bin", ["Content-Type": "text/plain"], false),
      ("a.bin", [:], false),
      ("a.HTML", ["Content-Type": "text/html"], false),
      ("index.htm", ["Content-Type": "text/html"], false),
      // The page of such a name has got an extension.
      ("index", ["Content-Type": "text/html"], true),
    ] as [(String, [String: String], Bool)]
  )
  func `a web page without a validator is not a new version of another file`(
    filename: String,
    fields: [String: String],
    isStrange: Bool
  ) {
    let fields = fields.map { HeaderField(name: $0.key, value: $0.value) }
    let head = ResponseHead(status: 200, fields: fields)
    #expect(head.isStrangePage(insteadOf: filename) == isStrange)
    #expect(head.isStrangePage(insteadOf: filename, ofSize: 10) == isStrange)
    let partial = ResponseHead(status: 206, fields: fields)
    #expect(!partial.isStrangePage(insteadOf: filename))
    // A page of the file's size is the file, from a server that states no type of its own.
    let length = HeaderField(name: "Content-Length", value: "10")
    let whole = ResponseHead(status: 200, fields: fields + [length])
    #expect(!whole.isStrangePage(insteadOf: filename, ofSize: 10))
    #expect(whole.isStrangePage(insteadOf: filename, ofSize: 11) == isStrange)
  }

  // MARK: Empty parts

  @Test(
    arguments: [
      ([:], "fail: badResponse"),
      (["Content-Range": "bytes 4-9/10"], "fail: badResponse"),
      (["Content-Range": "bytes 4-3/10"], "fail: badResponse"),
      (["ETag": "\"x\""], "fail: badResponse"),
      // Another version, and a body whose end is not declared.
      (["ETag": "\"y\""], "again: badResponse"),
      (["Content-Range": "bytes 4-8/9", "ETag": "\"x\""], "again: badResponse"),
      (
        ["Content-Range": "bytes 4-9/10", "ETag": "\"x\"", "Transfer-Encoding": "chunked"],
        "write 4 of 10"
      ),
    ] as [([String: String], String)]
  )
  func `an empty part says nothing about the bytes on disk`(
    fields: [String: String],
    expectation: String
  ) {
    let fields = fields.merging(["Content-Length": "0"]) { $1 }
    #expect(kind(verdict(206, fields, offset: 4, expected: 10, tag: "\"x\"")) == expectation)
  }
}
