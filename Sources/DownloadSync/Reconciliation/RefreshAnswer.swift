internal import DownloadStore

/// What the first response says about the finished file of a refresh (RFC 9110, 13.1.2 and 13.1.3).
///
/// Pure: depends on the response head, and on what the record knows about the file.
enum RefreshAnswer: Sendable, Hashable {
  /// The file is the server's current version.
  case notModified
  /// The server has another version, but the record requires the digest of the finished one.
  case digestForbids
  /// The file is the server's current version, but the record requires the digest of a newer one.
  case newerMissing
  /// The response has no bytes and no validator, and the finished file has bytes.
  case empty
  /// The body may be a newer version, or the response is a failure: the general rules decide.
  ///
  /// A version that has the size of the finished file, and no validator to compare, is received: only
  /// its bytes can tell. Its validator serves the next refresh.
  case other

  /// Judges a response to a request for the whole file.
  ///
  /// Some servers do not evaluate conditions, and send the file that they were asked not to send. Equal
  /// validators show that, so that its bytes need not be received.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - version: The version of the finished file.
  ///   - record: The record, with the size of the finished file.
  init(_ head: ResponseHead, comparedWith version: FinishedVersion, of record: DownloadRecord) {
    let origin = head.origin(unlike: RecordIdentity.origin(of: record.url))
    let isOfSameServer = head.url == nil || origin == version.validatorOrigin
    let isOther = version.hasOtherDigest(than: record.expectedDigest)
    switch head.status {
    case 304 where version.hasValidator && isOfSameServer && !version.isContradicted(by: head):
      self = isOther ? .newerMissing : .notModified
    case 200 where head.contentRange?.range == nil:
      let size = record.replacedFileIdentity?.size
      if isOfSameServer, version.isRepeated(in: head, size: size) {
        self = isOther ? .newerMissing : .notModified
      } else if record.expectedDigest != nil, !record.requiresNewerVersion,
        version.isReplaced(in: head, size: size)
      {
        self = .digestForbids
      } else if head.contentLength == 0, Self.isEmpty(head, insteadOf: record) {
        self = .empty
      } else {
        self = .other
      }
    default:
      self = .other
    }
  }

  /// Whether a whole file without bytes, as the body of a response, is not taken for a newer version.
  ///
  /// A server that fails often sends nothing, with status 200. A file that has become empty has a
  /// validator, or the required digest. Also for a body whose end alone shows that it is empty.
  static func isEmpty(_ head: ResponseHead, insteadOf record: DownloadRecord) -> Bool {
    record.earlierVersion != nil && record.expectedDigest == nil && !head.statesValidator
      && record.replacedFileIdentity.map { $0.size > 0 } ?? false
  }

  /// The failure of a refresh whose response has no bytes.
  static let noBytes = DownloadFailure(
    .badResponse,
    "the server sent no bytes, and no ETag or date, in the place of the file"
  )

  /// The failure of a refresh whose record requires the digest of the finished version.
  static let forbidden = DownloadFailure(
    .digestMismatch,
    "the server has another version of the file, but the checksum of the finished one is required"
  )

  /// The failure of a refresh that requires the digest of a version which the server does not have yet.
  static let missing = DownloadFailure(
    .digestMismatch,
    "the server still has the version of the finished file, which does not have the new checksum"
  )
}

extension TaskRequest {
  /// Makes the request conditional: a server without a newer version sends no file.
  ///
  /// - Parameters:
  ///   - version: The version of the finished file.
  ///   - origin: The origin of the download's URL.
  mutating func ask(forNewerThan version: FinishedVersion, of origin: String) {
    ifNoneMatch = version.entityTag
    ifModifiedSince = version.lastModified
    validatorOrigin = version.validatorOrigin ?? origin
  }
}

extension FinishedVersion {
  /// Whether the finished file is known not to be the version with a digest.
  ///
  /// It may be if no digest of it is known, or one of another algorithm.
  fileprivate func hasOtherDigest(than required: String?) -> Bool {
    guard let required = required.flatMap({ try? Digest($0) }),
      let own = verifiedDigest.flatMap({ try? Digest($0) })
    else { return false }
    return own.algorithm == required.algorithm && own != required
  }

  /// Whether a 304 states that it is about another version (RFC 9111, 4.3.4).
  fileprivate func isContradicted(by head: ResponseHead) -> Bool {
    func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
    guard let entityTag, let tag = head["ETag"] else { return false }
    return !opaque(tag).utf8.elementsEqual(opaque(entityTag).utf8)
  }

  /// Whether a response with the whole file states that it is this version.
  ///
  /// An entity tag decides, also a weak one: it says that the server sees no difference. A date
  /// alone needs the same size, because two versions of one second have the same date.
  fileprivate func isRepeated(in head: ResponseHead, size: Int64?) -> Bool {
    if let entityTag, let tag = head["ETag"] {
      return Validator.areEqual(tag, entityTag) && (head.contentLength ?? size) == size
    }
    guard let lastModified, let size else { return false }
    return head["Last-Modified"] == lastModified && head.contentLength == size
  }

  /// Whether a response with a whole file states that it is another version.
  ///
  /// - Parameters:
  ///   - head: The status and fields of the response.
  ///   - size: The size of the finished file.
  /// - Returns: Whether the size or a validator differs; `false` if there is nothing to compare.
  func isReplaced(in head: ResponseHead, size: Int64?) -> Bool {
    if let length = head.contentLength, let size, length != size { return true }
    if let entityTag, let tag = head["ETag"] { return !Validator.areEqual(tag, entityTag) }
    guard let lastModified, let date = head["Last-Modified"] else { return false }
    return date != lastModified
  }
}
