import Testing

@testable import FaultServer

struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-", ByteRange.from(0, through: nil)),
    ("bytes=5-9", .from(5, through: 9)),
    ("bytes=-3", .suffix(3)),
    ("Bytes = 1-1", .from(1, through: 1)),
  ])
  func `a range of bytes is read`(_ field: String, _ range: ByteRange) {
    #expect(ByteRange(field: field) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=9-5", "bytes=a-", "bytes=+1-", "bytes=0-1,3-4",
    "items=0-1", "bytes=1", "bytes=1-2-3",
  ])
  func `what is not one range of bytes is ignored`(_ field: String) {
    #expect(ByteRange(field: field) == nil)
  }

  @Test(arguments: [
    (ByteRange.from(0, through: nil), Int64(10), ByteRange.Selection.bytes(0..<10)),
    (.from(4, through: 6), 10, .bytes(4..<7)),
    (.from(4, through: 60), 10, .bytes(4..<10)),
    (.from(10, through: nil), 10, .unsatisfiable),
    (.from(0, through: nil), 0, .unsatisfiable),
    (.suffix(4), 10, .bytes(6..<10)),
    (.suffix(40), 10, .bytes(0..<10)),
    (.suffix(0), 10, .unsatisfiable),
    (.suffix(1), 0, .whole),
  ])
  func `a range selects what RFC 9110 says`(
    _ range: ByteRange,
    _ byteCount: Int64,
    _ selection: ByteRange.Selection
  ) {
    #expect(range.selection(of: byteCount) == selection)
  }

  @Test func `If-Range compares strongly`() {
    #expect(ifRangeHolds("\"a\"", etag: "\"a\"", lastModified: nil))
    #expect(!ifRangeHolds("\"a\"", etag: "\"b\"", lastModified: nil))
    #expect(!ifRangeHolds("\"a\"", etag: "W/\"a\"", lastModified: nil))
    #expect(!ifRangeHolds("W/\"a\"", etag: "W/\"a\"", lastModified: nil))
    #expect(!ifRangeHolds("W/\"a\"", etag: "\"a\"", lastModified: nil))
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(ifRangeHolds(date, etag: nil, lastModified: date))
    #expect(!ifRangeHolds(date, etag: "\"a\"", lastModified: nil))
  }
}
