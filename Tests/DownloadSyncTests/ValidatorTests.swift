import DownloadStore
import Foundation
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
      // One of bytes that are not UTF-8 may equal that of another version.
      ("\"\u{FFFD}\"", date, date),
      ("\"\u{FFFD}\"", nil, nil),
    ] as [(String?, String?, String?)]
  )
  func `a range is resumed with a strong entity tag, otherwise with a date`(
    tag: String?,
    date: String?,
    ifRange: String?
  ) {
    #expect(Validator(entityTag: tag, lastModified: date)?.ifRange == ifRange)
  }

  @Test func `entity tags that differ only in their bytes are those of two versions`() {
    let (ours, theirs) = ("\"\u{E9}\"", "\"e\u{301}\"")
    func head(_ tag: String) -> ResponseHead {
      ResponseHead(status: 200, fields: [HeaderField(name: "ETag", value: tag)])
    }
    let version = FinishedVersion(entityTag: ours, completedAt: Date(), hasPieceDigests: false)
    #expect(version.isReplaced(in: head(theirs), size: nil))
    #expect(!version.isReplaced(in: head(ours), size: nil))
    let unreadable = FinishedVersion(
      entityTag: "\"\u{FFFD}\"",
      completedAt: Date(),
      hasPieceDigests: false
    )
    #expect(unreadable.isReplaced(in: head("\"\u{FFFD}\""), size: nil))
    let validator = Validator(entityTag: ours, lastModified: nil)
    #expect(validator?.isContradicted(byEntityTag: theirs, lastModified: nil) == true)
    #expect(validator?.isContradicted(byEntityTag: ours, lastModified: nil) == false)
  }
}
