import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct ResponseVerdictTests {
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  static let otherDate = "Mon, 07 Nov 1994 08:49:37 GMT"

  func verdict(
    _ status: Int,
    _ fields: [String: String] = [:],
    offset: Int64 = 0,
    expected: Int64? = nil,
    tag: String? = nil,
    date: String? = nil
  ) -> ResponseVerdict {
    ResponseVerdict(
      ResponseHead(
        status: status,
        fields: fields.map { HeaderField(name: $0.key, value: $0.value) }
      ),
      offset: offset,
      expected: expected,
      validator: Validator(entityTag: tag, lastModified: date),
      now: Date(timeIntervalSince1970: 784_111_777)
    )
  }

  /// Returns a verdict as text, without its message.
  func kind(_ verdict: ResponseVerdict) -> String {
    switch verdict {
    case .write(let offset, _, let total): "write \(offset) of \(total.map(String.init) ?? "?")"
    case .askWithoutCondition: "again without If-Range"
    case .startOver(let total, _): "start over, \(total.map(String.init) ?? "?")"
    case .alreadyComplete: "complete"
    case .askAgainFromZero(let failure): "again: \(failure.code)"
    case .fail(let failure, let wait):
      "fail: \(failure.code)" + (wait.map { ", wait \($0.components.seconds)" } ?? "")
    }
  }

  @Test(
    arguments: [
      ("10", nil, "the server sent the whole file instead of the rest of it"),
      ("11", nil, "the file on the server has changed"),
      ("10", "\"other\"", "the file on the server has changed"),
    ] as [(String, String?, String)]
  )
  func `a verdict says why the bytes on disk are of no use`(
    length: String,
    tag: String?,
    reason: String
  ) {
    var fields = ["Content-Length": length]
    fields["ETag"] = tag
    let total = Int64(length)
    let verdict = verdict(200, fields, offset: 4, expected: 10, tag: "\"1\"")
    guard case .startOver(total, let failure) = verdict else {
      Issue.record("unexpected verdict \(verdict)")
      return
    }
    #expect(failure.message == reason)
  }

  // MARK: 200

  @Test(
    arguments: [
      (0, [:], "write 0 of ?"),
      (0, ["Content-Length": "10"], "write 0 of 10"),
      (0, ["Content-Length": "0"], "write 0 of 0"),
      // A body whose length cannot be parsed has no known end (RFC 9112, 6.3).
      (0, ["Content-Length": "-1"], "fail: badResponse"),
      (0, ["Content-Length": "ten"], "fail: badResponse"),
      (0, ["Content-Length": "1e3"], "fail: badResponse"),
      (0, ["Content-Length": "10, 11"], "fail: badResponse"),
      (4, ["Content-Length": ""], "fail: badResponse"),
      (0, ["Content-Length": "10, 10"], "write 0 of 10"),
      (0, ["Content-Length": "ten", "Transfer-Encoding": "chunked"], "write 0 of ?"),
      // The request had a range, and the response has the whole file.
      (4, ["Content-Length": "10"], "start over, 10"),
      (4, [:], "start over, ?"),
      (4, ["Content-Length": "10", "ETag": "\"other\""], "start over, 10"),
      // Content-Range overrides the status.
      (
        4, ["Content-Range": "bytes 4-9/10", "Content-Length": "6", "ETag": "\"x\""],
        "write 4 of 10"
      ),
      (0, ["Content-Range": "bytes 0-9/10", "Content-Length": "10"], "write 0 of 10"),
      // A body of another length than its range.
      (4, ["Content-Range": "bytes 4-9/10", "Content-Length": "7"], "again: badResponse"),
      (4, ["Content-Range": "bytes 4-9/10", "Content-Length": "5"], "again: badResponse"),
      (0, ["Content-Range": "bytes 0-3/10", "Content-Length": "10"], "fail: badResponse"),
      (
        4,
        [
          "Content-Range": "bytes 4-9/10", "Content-Length": "7", "Transfer-Encoding": "chunked",
          "ETag": "\"x\"",
        ], "write 4 of 10"
      ),
      // The same file, although the request had an If-Range.
      (4, ["Content-Length": "10", "ETag": "\"x\""], "again without If-Range"),
      (4, ["ETag": "\"x\""], "again without If-Range"),
      // A response that contradicts itself: the same file with another size.
      (4, ["Content-Length": "0", "ETag": "\"x\""], "fail: badResponse"),
      (4, ["Content-Length": "11", "ETag": "\"x\""], "fail: badResponse"),
      // An empty body is only accepted in answer to a request for all bytes.
      (4, ["Content-Length": "0"], "fail: badResponse"),
      (4, ["Content-Length": "0", "ETag": "\"y\""], "again: entityChanged"),
      (4, ["Content-Range": "bytes */10"], "start over, ?"),
      (4, ["Content-Range": "nonsense", "Content-Length": "10"], "start over, 10"),
      (4, ["Content-Range": "bytes 6-9/10", "ETag": "\"x\""], "again: badResponse"),
      (0, ["Content-Range": "bytes 6-9/10"], "fail: badResponse"),
      // Content codings.
      (0, ["Content-Encoding": "identity", "Content-Length": "10"], "write 0 of 10"),
      (0, ["Content-Encoding": "", "Content-Length": "10"], "write 0 of 10"),
      (0, ["Content-Encoding": "IDENTITY"], "write 0 of ?"),
      (0, ["Content-Encoding": "gzip", "Content-Length": "10"], "fail: unexpectedCoding"),
      (4, ["content-encoding": "BR"], "fail: unexpectedCoding"),
    ] as [(Int64, [String: String], String)]
  )
  func `a 200 response contains the whole file unless it says otherwise`(
    offset: Int64,
    fields: [String: String],
    expected: String
  ) {
    #expect(kind(verdict(200, fields, offset: offset, expected: 10, tag: "\"x\"")) == expected)
  }

  // MARK: 416

  @Test(
    arguments: [
      (10, 10, "bytes */10", "complete"),
      (10, nil, "bytes */10", "complete"),
      (10, 10, nil, "complete"),
      (10, 10, "nonsense", "complete"),
      (10, 10, "bytes */*", "complete"),
      (10, nil, nil, "again: entityChanged"),
      (10, nil, "bytes */7", "again: entityChanged"),
      (10, nil, "bytes */12", "again: entityChanged"),
      (4, 10, nil, "again: entityChanged"),
      // Another entity whose size equals the stored bytes.
      (4, 10, "bytes */4", "again: entityChanged"),
      (0, nil, nil, "fail: rejected"),
      (0, 0, "bytes */0", "fail: rejected"),
      (0, nil, "bytes */10", "fail: rejected"),
    ] as [(Int64, Int64?, String?, String)]
  )
  func `a 416 response tells whether every byte is on disk`(
    offset: Int64,
    expected: Int64?,
    range: String?,
    kind: String
  ) {
    var fields: [String: String] = [:]
    fields["Content-Range"] = range
    #expect(self.kind(verdict(416, fields, offset: offset, expected: expected)) == kind)
  }

  // MARK: Other statuses

  @Test(arguments: [
    (201, "rejected"), (203, "rejected"), (204, "rejected"), (205, "rejected"), (226, "rejected"),
    (300, "badRedirect"), (301, "badRedirect"), (302, "badRedirect"), (303, "badRedirect"),
    (304, "badRedirect"), (307, "badRedirect"), (308, "badRedirect"), (399, "badRedirect"),
    (400, "rejected"), (401, "refused"), (402, "rejected"), (403, "refused"), (404, "notFound"),
    (405, "rejected"), (406, "rejected"), (407, "refused"), (408, "serverBusy"), (409, "rejected"),
    (410, "notFound"), (411, "rejected"), (413, "rejected"), (414, "rejected"),
    (418, "rejected"), (421, "rejected"), (425, "serverBusy"), (426, "rejected"),
    (429, "serverBusy"), (431, "rejected"), (451, "rejected"), (499, "rejected"),
    (500, "serverBusy"), (501, "serverBusy"), (502, "serverBusy"), (503, "serverBusy"),
    (504, "serverBusy"), (511, "serverBusy"), (599, "serverBusy"), (600, "rejected"),
    (0, "rejected"), (-1, "rejected"),
  ]) func `any other status is a failure with its own code`(status: Int, code: String) {
    for offset in [Int64(0), 4] {
      #expect(kind(verdict(status, ["Content-Length": "10"], offset: offset)) == "fail: \(code)")
    }
  }

  @Test func `a failed precondition means that the entity changed`() {
    #expect(kind(verdict(412, offset: 4, tag: "\"x\"")) == "again: entityChanged")
    // The request had no precondition.
    #expect(kind(verdict(412)) == "fail: rejected")
  }

  @Test(arguments: [429, 503, 500, 403]) func `the wait that the server requests is passed on`(
    status: Int
  ) {
    let code = kind(verdict(status))
    #expect(kind(verdict(status, ["Retry-After": "120"])) == code + ", wait 120")
    #expect(kind(verdict(status, ["retry-after": "soon"])) == code)
  }
}
