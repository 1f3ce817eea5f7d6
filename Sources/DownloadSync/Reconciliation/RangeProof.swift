package import DownloadStore
package import Foundation

/// What shows that the bytes of a response belong to the same file as those on disk.
package enum RangeProof: Sendable, Hashable {
  /// The server that sent the other bytes has evaluated `If-Range`, and states the same validator.
  case unchanged(Validator?)
  /// The bytes on disk have no validator, and were written until this time.
  ///
  /// A response belongs to another version if it states that the file was modified later.
  case written(Date)
  /// The response states this strong entity tag, which the request did not contain.
  ///
  /// A server that never got the tag cannot repeat it.
  case stated(String)
  /// The digest of the complete file, or of its pieces, is compared with the required one.
  case digest
  /// Nothing shows it: the server is another one than that which stated the validator of the bytes on
  /// disk, and this validator identifies the file at its own server only.
  case nothing

  /// The value of `If-Range`; `nil` if the range is requested without a condition.
  var ifRange: String? {
    switch self {
    case .unchanged(let validator): validator?.ifRange
    case .written, .stated, .digest, .nothing: nil
    }
  }

  /// The proof that a response must give, which may come from another server than the requested one,
  /// by a redirect.
  ///
  /// A server that did not state the validator does not receive it (``PreparedRequest``), so it must
  /// state a strong entity tag by itself. Equal dates do not identify a file at different servers,
  /// and an unencrypted connection proves nothing about the file of an encrypted one.
  ///
  /// - Parameters:
  ///   - head: The response.
  ///   - origin: The origin that stated the validator of the bytes on disk.
  /// - Returns: The proof.
  func proof(for head: ResponseHead, validatorOrigin origin: String) -> Self {
    guard let actual = head.origin, actual != origin else { return self }
    let isLessSecure = actual.hasPrefix("http:") && origin.hasPrefix("https:")
    switch self {
    case .written, .digest, .nothing, .unchanged(nil): return self
    case .stated: return isLessSecure ? .nothing : self
    case .unchanged(let validator?):
      guard !isLessSecure, validator.isStrong, let tag = validator.entityTag else {
        return .nothing
      }
      return .stated(tag)
    }
  }

  /// Whether a response with a range is not shown to be one of the same file.
  func rejects(_ head: ResponseHead) -> Bool {
    switch self {
    case .unchanged(let validator): validator.map { !$0.isConfirmed(by: head) } ?? false
    case .written: isContradicted(by: head)
    case .stated(let tag): !Validator.areEqual(head["ETag"], tag)
    case .digest: false
    case .nothing: true
    }
  }

  /// Whether a response without a range is one of another file.
  func isContradicted(by head: ResponseHead) -> Bool {
    switch self {
    case .unchanged(let validator):
      validator?.isContradicted(
        byEntityTag: head["ETag"],
        lastModified: head["Last-Modified"]
      ) ?? false
    case .written(let moment): head.states(aChangeAfter: moment)
    case .stated(let tag): head["ETag"].map { !Validator.areEqual($0, tag) } ?? false
    case .digest, .nothing: false
    }
  }

  /// Whether a response with status 416 may be about another file than that of the bytes on disk.
  ///
  /// If the request had a condition, the server has evaluated it first (RFC 9110, 14.2). Without
  /// one, the response must state the tag.
  func rejectsEnd(_ head: ResponseHead) -> Bool {
    switch self {
    case .stated, .nothing: rejects(head)
    case .unchanged, .written, .digest: isContradicted(by: head)
    }
  }

  /// Whether a response states the strong entity tag of the bytes on disk.
  func hasSameTag(_ head: ResponseHead) -> Bool {
    switch self {
    case .unchanged(let validator):
      validator?.isStrong == true && Validator.areEqual(head["ETag"], validator?.entityTag)
    case .stated(let tag): Validator.areEqual(head["ETag"], tag)
    case .written, .digest, .nothing: false
    }
  }

  /// The failure of a response with a range that ``rejects(_:)``.
  var rejection: DownloadFailure {
    switch self {
    case .nothing:
      DownloadFailure(
        .entityChanged,
        "the server is another one than that of the bytes on disk, and states no strong entity tag"
      )
    case .unchanged, .written, .stated, .digest: ResponseVerdict.changed
    }
  }
}

extension DownloadRecord {
  /// What shows that the next response belongs to the file whose bytes are on disk.
  ///
  /// - Parameters:
  ///   - pieces: The digests of the file's pieces, if there are any.
  ///   - trustsDigest: Whether a required digest at the end is enough.
  ///   - isConditional: Whether the server answers conditional requests for ranges as it should.
  /// - Returns: The proof.
  func resumeProof(
    with pieces: PieceDigests?,
    trustsDigest: Bool = true,
    isConditional: Bool = true
  ) -> RangeProof {
    if trustsDigest, expectedDigest != nil || pieces?.requiresDigests == true { return .digest }
    let validator = Validator(of: self)
    if validator == nil, received > 0, let file = partialIdentity {
      return .written(file.modificationDate)
    }
    guard let validator, validator.isStrong, let tag = validator.entityTag,
      !isConditional || hasOtherOrigins
    else { return .unchanged(validator) }
    return .stated(tag)
  }

  /// Whether a mirror has another scheme, host or port than the download's URL.
  var hasOtherOrigins: Bool {
    guard !mirrors.isEmpty else { return false }
    let origin = RecordIdentity.origin(of: url)
    return mirrors.contains { RecordIdentity.origin(of: $0) != origin }
  }

  /// Whether the bytes on disk may be continued with those of the next attempt's URL, as far as
  /// validators show it; see decision 0066.
  ///
  /// Any of the URLs may have sent the bytes on disk.
  package var hasProofAtSource: Bool {
    guard expectedDigest == nil else { return true }
    guard let validator = Validator(of: self) else { return false }
    guard hasOtherOrigins else { return true }
    let origins = ([url] + mirrors).map(RecordIdentity.origin)
    let origin = RecordIdentity.origin(of: source)
    // What an unencrypted connection delivers may come from anyone.
    if origin.hasPrefix("http:"), origins.contains(where: { $0.hasPrefix("https:") }) {
      return false
    }
    // Mirrors may have equal dates for different builds.
    return validator.isStrong || origin == origins[0] || origin == validatorOrigin
  }
}

extension ResponseHead {
  /// Whether the file was modified after bytes of it were written, as far as the date says.
  ///
  /// The date has no fraction of a second, so one of the same second counts as later. But a program may
  /// have set the time of the bytes to that of the server's file: that one has no fraction either.
  fileprivate func states(aChangeAfter moment: Date) -> Bool {
    // The time only places years of two digits.
    guard let date = self["Last-Modified"].flatMap({ HTTPDate.moment($0, now: moment) }) else {
      return false
    }
    let second = moment.timeIntervalSince1970.rounded(.down)
    return date > moment || (date.timeIntervalSince1970 == second && date != moment)
  }
}
