import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct ResponseHeadTests {
  /// 06 Nov 1994 08:49:37 GMT, the example date of RFC 9110.
  static let now = Date(timeIntervalSince1970: 784_111_777)

  private func head(_ name: String, _ value: String) -> ResponseHead {
    ResponseHead(status: 200, fields: [HeaderField(name: name, value: value)])
  }

  @Test func `a header field is found whatever its case, and the first of several wins`() {
    let head = ResponseHead(
      status: 200,
      fields: [
        HeaderField(name: "eTAG", value: "\"x\""), HeaderField(name: "ETag", value: "\"y\""),
      ]
    )
    #expect(head["ETag"] == "\"x\"")
    #expect(head["etag"] == "\"x\"")
    #expect(head["E-Tag"] == nil)
  }

  @Test(
    arguments: [
      ("0", 0), ("120", 120), (" 120 ", 120),
      // A wait of more than a year is ignored.
      ("31536001", 31_536_000), ("9223372036854775807", 31_536_000),
      ("99999999999999999999999", 31_536_000),
      ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
      ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 31_536_000),
      // The two obsolete formats.
      ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
      // A two-digit year more than fifty years ahead is in the past.
      ("Friday, 06-Nov-43 08:50:37 GMT", 31_536_000), ("Tuesday, 06-Nov-45 08:50:37 GMT", 0),
      ("", nil), ("-5", nil), ("+5", nil), ("1.5", nil), ("5s", nil), ("soon", nil), ("٣", nil),
      ("Sun, 99 Nov 1994 08:49:37 GMT", nil), ("0x10", nil),
    ] as [(String, Int64?)]
  )
  func `Retry-After is seconds or a date`(text: String, seconds: Int64?) {
    #expect(head("Retry-After", text).retryAfter(now: Self.now) == seconds.map { .seconds($0) })
  }

  @Test(
    arguments: [
      // The clock of the server is an hour ahead, an hour behind, and years behind.
      (["Sun, 06 Nov 1994 09:49:40 GMT", "Sun, 06 Nov 1994 09:49:37 GMT"], 3),
      (["Sun, 06 Nov 1994 07:49:40 GMT", "Sun, 06 Nov 1994 07:49:37 GMT"], 3),
      (["Thu, 01 Jan 1970 00:00:05 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"], 5),
      // The date has passed for the server, too.
      (["Sun, 06 Nov 1994 09:49:36 GMT", "Sun, 06 Nov 1994 09:49:37 GMT"], 0),
      (["Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov 1994 09:49:37 GMT"], 31_536_000),
      // Seconds need no clock.
      (["120", "Sun, 06 Nov 1994 09:49:37 GMT"], 120),
      // Without a valid time of the response, this clock counts.
      (["Sun, 06 Nov 1994 08:50:37 GMT", "now"], 60),
      // The response was in a cache for a minute.
      (["Sun, 06 Nov 1994 09:51:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", "60"], 60),
      (["Sun, 06 Nov 1994 09:51:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", "-60"], 120),
    ] as [([String], Int64)]
  )
  func `a Retry-After date is one of the server's clock`(values: [String], seconds: Int64) {
    let fields = zip(["Retry-After", "Date", "Age"], values).map { name, value in
      HeaderField(name: name, value: value)
    }
    let head = ResponseHead(status: 503, fields: fields)
    #expect(head.retryAfter(now: Self.now) == .seconds(seconds))
  }

  @Test func `a missing Retry-After requests no wait`() {
    let head = ResponseHead(status: 200, fields: [])
    #expect(head.retryAfter(now: Self.now) == nil)
    #expect(head.contentRange == nil)
    #expect(head.contentLength == nil)
    #expect(head.contentCoding == nil)
  }

  @Test(
    arguments: [
      ("0", 0), ("1152921504606846976", 1 << 60), ("1152921504606846977", nil),
      ("9223372036854775807", nil), ("9223372036854775808", nil), ("", nil),
      ("-1", nil), ("+1", nil), (" 1", nil), ("1,1", 1), ("1, 1", 1), ("1,2", nil), ("1,", nil),
      ("1e3", nil),
      ("１", nil), ("007", 7),
    ] as [(String, Int64?)]
  )
  func `a content length consists of digits only`(text: String, length: Int64?) {
    #expect(head("Content-Length", text).contentLength == length)
  }

  @Test(
    arguments: [
      ("bytes 0-9/10", 0...9, 10), ("bytes 4-4/5", 4...4, 5), ("bytes 4-9/*", 4...9, nil),
      ("bytes */10", nil, 10), ("BYTES 0-9/10", 0...9, 10),
    ] as [(String, ClosedRange<Int64>?, Int64?)]
  )
  func `Content-Range has a range and a total`(
    text: String,
    range: ClosedRange<Int64>?,
    total: Int64?
  ) {
    let found = head("Content-Range", text).contentRange
    #expect(found?.range == range)
    #expect(found?.total == total)
  }

  @Test(arguments: [
    "bytes 0-10/10", "bytes 10-10/10", "bytes 9-0/10", "bytes 0-9/x", "bytes 0-9", "bytes 0-/10",
    "bytes -9/10", "items 0-9/10", "bytes",
  ])
  func `a contradictory Content-Range is ignored`(text: String) {
    #expect(head("Content-Range", text).contentRange == nil)
  }

  @Test func `no Content-Range field causes a crash`() {
    var random = SplitMix64(seed: 9_110)
    let pieces = [
      "bytes", " ", "/", "-", "*", "0", "9", "9223372036854775807", "99999999999999999999", "=",
      ",", "\u{0}", "\u{301}", "é", "Sun, 06 Nov 1994 08:49:37 GMT", ":", "GMT", "\"", "W/", "\t",
    ]
    for _ in 0..<5_000 {
      var text = ""
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        text += pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      let fields = [
        "Content-Range", "Content-Length", "Retry-After", "ETag", "Last-Modified",
        "Content-Encoding",
      ]
      .filter { _ in Bool.random(using: &random) }
      .map { HeaderField(name: $0, value: text) }
      let status = [200, 206, 416, 503, 302][Int.random(in: 0..<5, using: &random)]
      let head = ResponseHead(status: status, fields: fields)
      let offset = Int64.random(in: 0...2, using: &random) * (Int64.max / 2)
      let expected: Int64? = Bool.random(using: &random) ? .max : nil
      let verdict = ResponseVerdict(
        head,
        offset: offset,
        expected: expected,
        validator: Validator(entityTag: "\"x\"", lastModified: nil),
        now: Self.now
      )
      if case .write(let start, let end, let total) = verdict {
        #expect(start >= 0 && start <= offset && (total ?? .max) >= 0, "\(text.debugDescription)")
        #expect((end ?? .max) >= start && (end ?? 0) <= total ?? .max, "\(text.debugDescription)")
      }
      if let range = head.contentRange?.range {
        #expect(range.lowerBound >= 0 && range.upperBound < .max, "\(text.debugDescription)")
      }
    }
  }

  @Test(
    arguments: [
      // The last response covered the rest; the delivered file is the whole.
      (206, "bytes 400-999/1000", 1_000, 0, 200, nil),
      // A session that takes more bytes than the range has, or fewer, does not change the size.
      (206, "bytes 400-999/1000", 1_001, 0, 200, nil),
      (206, "bytes 400-999/1000", 999, 0, 200, nil), (206, "bytes 400-999/*", 999, 0, 200, nil),
      // Or everything in the requested part.
      (206, "bytes 700-999/1000", 600, 400, 206, "bytes 400-999/1000"),
      (206, "bytes 700-999/*", 600, 400, 206, "bytes 400-999/*"),
      (200, nil, 1_000, 0, 200, nil), (404, nil, 9, 0, 404, nil),
      (416, "bytes */300", 9, 0, 416, "bytes */300"),
      // An end that no integer holds makes the range unreadable.
      (
        206, "bytes 700-999/*", 600, .max - 1, 206,
        "bytes 9223372036854775806-9223372036854776405/*"
      ),
    ] as [(Int, String?, Int64, Int64, Int, String?)]
  )
  func `the head of a delivered file describes the file`(
    status: Int,
    range: String?,
    byteCount: Int64,
    offset: Int64,
    newStatus: Int,
    newRange: String?
  ) {
    var fields = [HeaderField(name: "ETag", value: "\"1\"")]
    if let range { fields.append(HeaderField(name: "content-range", value: range)) }
    if status == 206 { fields.append(HeaderField(name: "Content-Length", value: "1")) }
    let head = ResponseHead(status: status, fields: fields)
      .forDelivery(byteCount: byteCount, from: offset)
    #expect(head.status == newStatus)
    #expect(head["Content-Range"] == newRange)
    let whole = offset == 0 && range?.hasSuffix("/1000") == true ? 1_000 : byteCount
    #expect(head["Content-Length"] == (status == 206 ? "\(whole)" : nil))
    #expect(head["ETag"] == "\"1\"")
  }
}
