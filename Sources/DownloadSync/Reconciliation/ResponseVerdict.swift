package import DownloadStore
package import Foundation

/// What a response means for a download.
///
/// Pure: RFC 9110, sections 13 to 15, applied to our case.
package enum ResponseVerdict: Sendable, Hashable {
  /// The body goes to `offset`; the whole has `total` bytes, if the server says so.
  case write(offset: Int64, total: Int64?)
  /// The body is the whole entity and not the rest of ours: what is on disk is dropped first.
  case startOver(total: Int64?)
  /// Every byte is on disk already.
  case alreadyComplete
  /// What is on disk is of no use, and the body is not the whole: ask again from the first byte.
  case askAgainFromZero(DownloadFailure)
  /// The attempt has failed.
  case fail(DownloadFailure, retryAfter: Duration?)

  /// The verdict on a response.
  ///
  /// - Parameters:
  ///   - head: The response.
  ///   - offset: The first byte that was asked for.
  ///   - expected: The size of the whole, if an earlier response said it.
  ///   - validator: The validator of the bytes on disk.
  ///   - now: The time, for a `Retry-After` date.
  package init(
    _ head: ResponseHead,
    offset: Int64,
    expected: Int64?,
    validator: Validator?,
    now: Date
  ) {
    if (200..<300).contains(head.status), let coding = head.contentCoding {
      self = .fail(
        DownloadFailure(.unexpectedCoding, "the body is coded as \(coding)"),
        retryAfter: nil
      )
      return
    }
    if head.status == 200 || head.status == 206, head.hasInvalidLength {
      self = .fail(
        DownloadFailure(
          .badResponse,
          "a Content-Length that cannot be read: \(head["Content-Length"] ?? "")"
        ),
        retryAfter: nil
      )
      return
    }
    switch head.status {
    case 206:
      self = Self.partial(head, offset: offset, expected: expected, validator: validator)
    case 200:
      // Content-Range decides, not the status: some servers send a slice as 200.
      if head.contentRange?.range != nil {
        self = Self.partial(head, offset: offset, expected: expected, validator: validator)
      } else if offset == 0 {
        self = .write(offset: 0, total: head.contentLength)
      } else {
        self = .startOver(total: head.contentLength)
      }
    case 412 where offset > 0:
      // If-Range is no reason for it (RFC 9110, 13.1.5), but servers give it as one.
      self = .askAgainFromZero(
        DownloadFailure(.entityChanged, "the server refuses the condition (status 412)")
      )
    case 416:
      self = Self.notSatisfiable(head, offset: offset, expected: expected, validator: validator)
    default:
      self = .fail(
        Self.failure(forStatus: head.status),
        retryAfter: head.retryAfter(now: now)
      )
    }
  }

  private static func partial(
    _ head: ResponseHead,
    offset: Int64,
    expected: Int64?,
    validator: Validator?
  ) -> Self {
    guard let contentRange = head.contentRange, let range = contentRange.range else {
      // Perhaps in several parts (RFC 9110, 14.6). A server that cannot send a part can send all.
      let failure = DownloadFailure(
        .badResponse,
        "a partial response without a Content-Range that can be read"
      )
      return offset > 0 ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    if offset > 0, head.contradicts(validator) {
      return .askAgainFromZero(
        DownloadFailure(.entityChanged, "the entity on the server is another one now")
      )
    }
    if offset > 0, let expected, let total = contentRange.total, total != expected {
      return .askAgainFromZero(
        DownloadFailure(
          .entityChanged,
          "the entity has \(total) bytes now and had \(expected)"
        )
      )
    }
    // Bytes that we have already are written again at their place; a gap cannot be filled, and
    // bytes that all lie before ours would pass for the end of a whole of unknown size.
    guard range.lowerBound <= offset, range.upperBound >= offset else {
      let failure = DownloadFailure(
        .badResponse,
        "asked for byte \(offset), got \(range.lowerBound) to \(range.upperBound)"
      )
      // From zero was asked already.
      return offset > 0 ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    guard let total = contentRange.total ?? expected else {
      // A slice of a whole of unknown size ends like the whole does.
      let failure = DownloadFailure(.badResponse, "a partial response of a whole of unknown size")
      return offset > 0 ? .askAgainFromZero(failure) : .fail(failure, retryAfter: nil)
    }
    return .write(offset: range.lowerBound, total: total)
  }

  private static func notSatisfiable(
    _ head: ResponseHead,
    offset: Int64,
    expected: Int64?,
    validator: Validator?
  ) -> Self {
    let total = head.contentRange?.total ?? expected
    guard offset > 0 else {
      return .fail(
        DownloadFailure(.rejected, "the server refuses the range (status 416)"),
        retryAfter: nil
      )
    }
    // Another entity may be just as long as what we have of ours.
    if total == offset, expected ?? offset == offset, !head.contradicts(validator) {
      return .alreadyComplete
    }
    return .askAgainFromZero(
      DownloadFailure(.entityChanged, "the server has nothing from byte \(offset) on")
    )
  }

  private static func failure(forStatus status: Int) -> DownloadFailure {
    let code: DownloadFailure.Code =
      switch status {
      case 401, 403, 407: .refused
      case 404, 410: .notFound
      case 408, 425, 429, 500...599: .serverBusy
      case 300..<400: .badRedirect
      default: .rejected
      }
    return DownloadFailure(code, "the server answered with status \(status)")
  }
}

extension ResponseHead {
  /// Whether the response says that it is of another entity than the bytes of `validator`.
  fileprivate func contradicts(_ validator: Validator?) -> Bool {
    validator?.isContradicted(byEntityTag: self["ETag"], lastModified: self["Last-Modified"])
      ?? false
  }
}
