package import DownloadStore
package import Foundation

/// The meaning of a response for a download (RFC 9110, sections 13 to 15).
///
/// Pure: a verdict depends on the response head and on the bytes that are on disk.
package enum ResponseVerdict: Sendable, Hashable {
  /// Write the body, which has the bytes of the file from `offset` on.
  ///
  /// The offset is at most the requested one: bytes that are on disk may be sent again. The body ends
  /// before the byte `end`, and the file has `total` bytes in all; both are `nil` if unknown.
  case write(offset: Int64, end: Int64?, total: Int64?)
  /// Drop the bytes on disk and write the body, which is the whole file, from the first byte.
  ///
  /// The size of the file in bytes is `total`; `nil` if unknown. The failure says why the bytes on
  /// disk are of no use.
  case startOver(total: Int64?, DownloadFailure)
  /// All bytes are on disk, so there is nothing to download.
  case alreadyComplete
  /// Drop the body, and request the range again without `If-Range`.
  ///
  /// The server has the same file, and does not evaluate the field as it should. The entity tag of
  /// the next response is compared.
  case askWithoutCondition
  /// Drop the bytes on disk and the body, and request the whole file.
  case askAgainFromZero(DownloadFailure)
  /// The attempt has failed; the server asks to wait for `retryAfter` before the next one.
  case fail(DownloadFailure, retryAfter: Duration?)

  /// Whether bytes of the body are kept.
  var keepsBody: Bool {
    switch self {
    case .write, .startOver: true
    case .alreadyComplete, .askWithoutCondition, .askAgainFromZero, .fail: false
    }
  }

  /// The size that the file has at least, in bytes; `nil` if no byte of the body is kept, or the
  /// response does not say.
  var fileSize: Int64? {
    switch self {
    case .write(_, let end, let total): [end, total].compactMap(\.self).max()
    case .startOver(let total, _): total
    case .alreadyComplete, .askWithoutCondition, .askAgainFromZero, .fail: nil
    }
  }

  /// Judges a response.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - offset: The first requested byte.
  ///   - continues: Whether any bytes are on disk; `nil` if there are exactly those before the offset.
  ///   - expected: The size of the whole file in bytes, if an earlier response contained it.
  ///   - proof: What shows that the response belongs to the file whose bytes are on disk.
  ///   - now: The current time, for a `Retry-After` date of a response without `Date`.
  package init(
    _ head: ResponseHead,
    offset: Int64,
    continues: Bool? = nil,
    expected: Int64?,
    proof: RangeProof,
    now: Date
  ) {
    let continues = continues ?? (offset > 0)
    if (200..<300).contains(head.status), let coding = head.contentCoding {
      self = .fail(
        DownloadFailure(
          .unexpectedCoding,
          "the response has Content-Encoding \(Redaction.fieldValue(coding)), which was not requested"
            + (head.isDecoded ? "; this transport cannot store the coded file" : "")
        ),
        retryAfter: nil
      )
      return
    }
    if (200..<300).contains(head.status), let coding = head.transferCoding {
      self = .fail(
        DownloadFailure(
          .unexpectedCoding,
          "the response has Transfer-Encoding \(Redaction.fieldValue(coding)), which was not requested"
        ),
        retryAfter: nil
      )
      return
    }
    if head.status == 200 || head.status == 206, head.hasInvalidLength {
      self = .fail(
        DownloadFailure(
          .badResponse,
          "the response has an invalid Content-Length: "
            + Redaction.fieldValue(head["Content-Length"] ?? "")
        ),
        retryAfter: nil
      )
      return
    }
    switch head.status {
    case 206:
      self = Self.partial(head, offset: offset, continues, expected: expected, proof)
    case 200:
      // Content-Range decides, not the status: some servers send a range with status 200.
      if head.contentRange?.range != nil {
        self = Self.partial(head, offset: offset, continues, expected: expected, proof)
      } else if !continues {
        self = .write(offset: 0, end: head.contentLength, total: head.contentLength)
      } else {
        self = Self.whole(head, expected: expected ?? offset, isExact: expected != nil, proof)
      }
    case 412 where continues:
      // If-Range must not cause a 412 (RFC 9110, 13.1.5), but some servers send one.
      self = .askAgainFromZero(
        DownloadFailure(.entityChanged, "the server answered the range request with status 412")
      )
    case 416:
      self = Self.notSatisfiable(
        head,
        offset: offset,
        continues,
        expected: expected,
        proof
      )
    default:
      let retryAfter = head.retryAfter(now: now)
      self = .fail(
        Self.failure(forStatus: head.status, retryAfter: retryAfter),
        retryAfter: retryAfter
      )
    }
  }

  /// Judges a response of the server that sent the bytes on disk.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - offset: The first requested byte.
  ///   - expected: The size of the whole file in bytes, if an earlier response contained it.
  ///   - validator: The validator of the bytes on disk.
  ///   - now: The current time, for a `Retry-After` date of a response without `Date`.
  package init(
    _ head: ResponseHead,
    offset: Int64,
    expected: Int64?,
    validator: Validator?,
    now: Date
  ) {
    self.init(head, offset: offset, expected: expected, proof: .unchanged(validator), now: now)
  }

  /// The failure of an answer to a request for a range that has no bytes, although the file may have some.
  static var emptyRange: DownloadFailure {
    DownloadFailure(.entityChanged, "the server answered a request for a range with no bytes")
  }

  /// The failure of a response that belongs to another file than the bytes on disk.
  static var changed: DownloadFailure {
    DownloadFailure(.entityChanged, "the file on the server has changed")
  }

  /// The failure of a response with the whole file, which may be another one.
  private static var wholeFile: DownloadFailure {
    DownloadFailure(.badResponse, "the server sent the whole file instead of the rest of it")
  }

  /// The failure of a partial response without bytes.
  fileprivate static var emptyPart: DownloadFailure {
    DownloadFailure(.badResponse, "the server answered a request for a range with no bytes")
  }

  /// Judges a response with the whole file to a request for a range.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - expected: The size of the file in bytes, as far as it is known.
  ///   - isExact: Whether the file has exactly this size.
  ///   - proof: What shows that the response belongs to the file whose bytes are on disk.
  /// - Returns: The verdict.
  private static func whole(
    _ head: ResponseHead,
    expected: Int64,
    isExact: Bool,
    _ proof: RangeProof
  ) -> Self {
    let length = head.contentLength
    let isSame = proof.hasSameTag(head)
    let isWrong = length.map { $0 < expected || (isExact && $0 != expected) } ?? false
    // A file that has changed has another validator. An empty body may come from a broken server.
    let isEmptied = length == 0 && expected > 0
    if isEmptied, proof.isContradicted(by: head) {
      return .askAgainFromZero(Self.emptyRange)
    }
    if isSame && isWrong || isEmptied {
      return .fail(
        DownloadFailure(
          .badResponse,
          "the server answered a request for a range of the same file with \(length ?? 0) bytes"
        ),
        retryAfter: nil
      )
    }
    guard isSame else {
      let isOther =
        isExact && length.map { $0 != expected } ?? false || proof.isContradicted(by: head)
      return .startOver(total: length, isOther ? changed : wholeFile)
    }
    if proof.ifRange != nil { return .askWithoutCondition }
    return .write(offset: 0, end: length, total: length ?? (isExact ? expected : nil))
  }

  private static func partial(
    _ head: ResponseHead,
    offset: Int64,
    _ continues: Bool,
    expected: Int64?,
    _ proof: RangeProof
  ) -> Self {
    if continues, head.isEmptyPart, !proof.isContradicted(by: head),
      Set([expected, head.contentRange?.total].compactMap(\.self)).count < 2
    {
      // Nothing shows that the bytes on disk are those of another file.
      return .fail(Self.emptyPart, retryAfter: nil)
    }
    guard let contentRange = head.contentRange, let range = contentRange.range,
      !head.contradictsItsRange
    else {
      // The response may be multipart/byteranges (RFC 9110, 14.6). The server may still send the
      // whole file correctly.
      let failure = DownloadFailure(
        .badResponse,
        "the partial response has no valid Content-Range"
      )
      return continues ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    if continues, proof.rejects(head) { return .askAgainFromZero(proof.rejection) }
    if continues, let expected, let total = contentRange.total, total != expected {
      return .askAgainFromZero(
        DownloadFailure(
          .entityChanged,
          "the size of the file on the server has changed from \(expected) to \(total) bytes"
        )
      )
    }
    // Bytes that are on disk may be sent again and are overwritten. A range that starts later would
    // leave a gap. A range that ends before the offset adds nothing, and could be taken for the end
    // of a file of unknown size.
    guard range.lowerBound <= offset, range.upperBound >= offset else {
      let failure = DownloadFailure(
        .badResponse,
        "requested the bytes from \(offset), received \(range.lowerBound) to \(range.upperBound)"
      )
      // A request from zero would be the same request again.
      return continues ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    guard let total = contentRange.total ?? expected else {
      // Without the total, the end of a range cannot be distinguished from the end of the file.
      let failure = DownloadFailure(
        .badResponse,
        "the partial response does not contain the size of the file"
      )
      return continues ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    return .write(offset: range.lowerBound, end: range.upperBound + 1, total: total)
  }

  private static func notSatisfiable(
    _ head: ResponseHead,
    offset: Int64,
    _ continues: Bool,
    expected: Int64?,
    _ proof: RangeProof
  ) -> Self {
    let total = head.contentRange?.total ?? expected
    guard continues else {
      return .fail(
        DownloadFailure(
          .rejected,
          "the server rejected a request for all bytes (\(StatusText.named(416)))"
        ),
        retryAfter: nil
      )
    }
    // Another version of the file may be exactly as long as the bytes on disk.
    if total == offset, expected ?? offset == offset, !proof.rejectsEnd(head) {
      return .alreadyComplete
    }
    return .askAgainFromZero(
      DownloadFailure(.entityChanged, "the server has no bytes from \(offset) on (status 416)")
    )
  }

  fileprivate static func failure(
    forStatus status: Int,
    retryAfter: Duration?
  ) -> DownloadFailure {
    let code: DownloadFailure.Code =
      switch status {
      case 401, 403, 407: .refused
      case 404, 410: .notFound
      case 408, 425, 429, 500...599: .serverBusy
      case 300..<400: .badRedirect
      default: .rejected
      }
    let detail: DownloadFailure.Detail? =
      switch status {
      case 401: .login
      case 407: .proxyLogin
      default: nil
      }
    let message = StatusText.sentence(for: status, retryAfter: retryAfter)
    return DownloadFailure(code, message, detail: detail)
  }
}

extension TransferResult {
  /// The result of a request for a range of an entity of which other connections fetch the rest;
  /// `nil` if the response has the range.
  ///
  /// Stricter than ``ResponseVerdict``: the body must begin with the first requested byte, and no
  /// bytes are dropped for another version of the file.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - range: The requested range.
  ///   - total: The size of the whole file in bytes.
  ///   - digest: The digest of the whole file, if it is known.
  ///   - proof: What shows that the range belongs to the same file.
  ///   - isOfMirror: Whether another server than that of the first connection sends the range, as a
  ///     mirror or after a redirect.
  ///   - now: The current time, for a `Retry-After` date of a response without `Date`.
  init?(
    refusing head: ResponseHead,
    ofRange range: Range<Int64>,
    total: Int64?,
    digest: Digest? = nil,
    proof: RangeProof,
    isOfMirror: Bool = false,
    now: Date
  ) {
    if head.status == 412 || head.status == 416 {
      // As of the first connection: the server has no such range of this version, or of no version.
      let failure = DownloadFailure(
        .entityChanged,
        "the server answered a range request with status \(head.status)"
      )
      self = isOfMirror ? .failed(failure, retryAfter: nil) : .startOver(failure)
      return
    }
    guard head.status == 200 || head.status == 206 else {
      let retryAfter = head.retryAfter(now: now)
      self = .failed(
        ResponseVerdict.failure(forStatus: head.status, retryAfter: retryAfter),
        retryAfter: retryAfter
      )
      return
    }
    if head.isEmptyPart, !proof.isContradicted(by: head) {
      self = .failed(ResponseVerdict.emptyPart, retryAfter: nil)
      return
    }
    let other = head.contentRange?.total ?? (head.status == 200 ? head.contentLength : nil)
    let isOther =
      head.contentRange?.range == nil ? proof.isContradicted(by: head) : proof.rejects(head)
    if isOther || (other != nil && total != nil && other != total) || head.contradicts(digest) {
      // A mirror that has another file says nothing about the bytes on disk.
      self =
        isOfMirror
        ? .failed(
          DownloadFailure(.entityChanged, "nothing shows that the other server has the same file"),
          retryAfter: nil
        )
        : .startOver(ResponseVerdict.changed)
      return
    }
    guard head.contentCoding == nil, head.transferCoding == nil, !head.hasInvalidLength,
      !head.contradictsItsRange,
      let received = head.contentRange?.range, received.lowerBound == range.lowerBound
    else {
      self = .failed(
        DownloadFailure(
          .badResponse,
          "requested the bytes from \(range.lowerBound) to \(range.upperBound), and received a "
            + "response with status \(head.status) and "
            + (head["Content-Range"].map { "Content-Range \(Redaction.fieldValue($0))" }
              ?? "no Content-Range")
        ),
        retryAfter: nil
      )
      return
    }
    return nil
  }
}

extension ResponseHead {
  /// Whether this is a partial response whose body is declared to be empty, which no range is.
  fileprivate var isEmptyPart: Bool {
    status == 206 && contentLength == 0 && self["Transfer-Encoding"] == nil
  }

  /// Whether the declared length of the body is not that of the range which it is said to have.
  fileprivate var contradictsItsRange: Bool {
    guard let range = contentRange?.range, let contentLength, self["Transfer-Encoding"] == nil
    else { return false }
    return Int128(contentLength) != Int128(range.upperBound) - Int128(range.lowerBound) + 1
  }

  /// Whether the response states another digest of the whole file.
  fileprivate func contradicts(_ digest: Digest?) -> Bool {
    guard let digest, let statedDigest else { return false }
    return statedDigest.algorithm == digest.algorithm && statedDigest != digest
  }
}

/// The response fields that identify a version of the server's file (RFC 9110, 8.8).
package struct Validator: Sendable, Hashable {
  /// The entity tag as sent by the server, including `W/` and quotes.
  package var entityTag: String?
  /// The `Last-Modified` date as sent by the server.
  package var lastModified: String?

  /// Creates a validator from response fields.
  ///
  /// `nil` if there is neither a strong entity tag nor a date.
  package init?(entityTag: String?, lastModified: String?) {
    guard Self.isStrong(entityTag) || lastModified?.isEmpty == false else { return nil }
    self.entityTag = entityTag
    self.lastModified = lastModified
  }

  /// Creates the validator of the bytes that a record has on disk; `nil` if it has none.
  package init?(of record: DownloadRecord) {
    self.init(entityTag: record.entityTag, lastModified: record.lastModified)
  }

  /// Whether equal validators promise identical bytes (RFC 9110, 8.8.1).
  package var isStrong: Bool { Self.isStrong(entityTag) }

  /// The value of the `If-Range` field: the entity tag if it is strong, otherwise the date.
  ///
  /// A weak entity tag does not promise identical bytes (RFC 9110, 13.1.5).
  package var ifRange: String? {
    Self.isStrong(entityTag) ? entityTag : lastModified
  }

  /// Whether a response with the given fields belongs to another version of the file.
  ///
  /// If the validator has a strong entity tag and the response has an entity tag, the two are
  /// compared; otherwise the dates are. A missing field is no contradiction; see
  /// ``isConfirmed(by:)``.
  package func isContradicted(byEntityTag tag: String?, lastModified date: String?) -> Bool {
    if let entityTag, Self.isStrong(entityTag), let tag { return !Self.areEqual(tag, entityTag) }
    if let lastModified, let date { return date != lastModified }
    return false
  }

  /// Whether a partial response belongs to this version of the file.
  ///
  /// A server repeats in a partial response the entity tag of the whole one (RFC 9110, 15.3.7), so
  /// a response without the tag comes from a server that may not have evaluated `If-Range`. The date
  /// is not repeated.
  func isConfirmed(by head: ResponseHead) -> Bool {
    let (tag, date) = (head["ETag"], head["Last-Modified"])
    guard isStrong, tag == nil else {
      return !isContradicted(byEntityTag: tag, lastModified: date)
    }
    return date != nil && date == lastModified
  }

  /// Whether two entity tags name one version: they have the same bytes, which are known.
  ///
  /// Canonically equivalent tags are those of different versions. See ``isUnreadable(_:)``.
  static func areEqual(_ tag: String?, _ other: String?) -> Bool {
    guard let tag, let other, !isUnreadable(tag) else { return false }
    return tag.utf8.elementsEqual(other.utf8)
  }

  /// Whether a tag has bytes that are not UTF-8, as that of a server that writes Latin-1 may.
  ///
  /// The transports replace such a byte with U+FFFD. The tag then equals those of other versions, and
  /// the server would not recognize it.
  static func isUnreadable(_ tag: String) -> Bool { tag.unicodeScalars.contains("\u{FFFD}") }

  /// Whether a tag promises identical bytes: it is in quotes, without `W/`, and its bytes are known.
  private static func isStrong(_ tag: String?) -> Bool {
    guard let tag else { return false }
    let quote = UInt8(ascii: "\"")
    return tag.utf8.count >= 2 && tag.utf8.first == quote && tag.utf8.last == quote
      && !isUnreadable(tag)
  }
}
