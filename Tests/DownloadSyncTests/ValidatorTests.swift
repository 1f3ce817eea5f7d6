import Testing

@testable import DownloadSync

@Suite struct ValidatorTests {
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(
    arguments: [
      // tag, date, If-Range; nil for no validator
      ("\"x\"", nil, "\"x\""),
      ("\"x\"", date, "\"x\""),
      ("\"\"", nil, "\"\""),
      ("W/\"x\"", date, date),
      ("W/\"x\"", nil, nil),
      (nil, date, date),
      (nil, nil, nil),
      ("", "", nil),
      (nil, "", nil),
      // A tag without quotes is invalid.
      ("x", nil, nil),
      ("\"", nil, nil),
      ("x", date, date),
    ] as [(String?, String?, String?)]
  )
  func `a range is resumed with a strong entity tag, otherwise with a date`(
    tag: String?,
    date: String?,
    ifRange: String?
  ) {
    #expect(Validator(entityTag: tag, lastModified: date)?.ifRange == ifRange)
  }
}
