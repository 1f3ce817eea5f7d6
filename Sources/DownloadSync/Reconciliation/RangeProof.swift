internal import DownloadStore

/// What shows that the range of a further connection belongs to the same file.
enum RangeProof: Sendable, Hashable {
  /// The server of the first connection: no field contradicts the validator.
  case unchanged(Validator?)
  /// Another server: it states the same strong entity tag.
  case entityTag(String)
  /// Another server, whose entity tags may differ: the digest of the complete file, or of its
  /// pieces, is compared with the required one.
  case digest

  /// The value of `If-Range`; `nil` if the range is requested without a condition.
  var ifRange: String? {
    switch self {
    case .unchanged(let validator): validator?.ifRange
    case .entityTag(let tag): tag
    case .digest: nil
    }
  }

  /// Whether another server than that of the first connection sends the range.
  var isOfMirror: Bool {
    if case .unchanged = self { false } else { true }
  }

  /// Whether a response is one of another file.
  func isContradicted(by head: ResponseHead) -> Bool {
    switch self {
    case .unchanged(let validator):
      validator?.isContradicted(
        byEntityTag: head["ETag"],
        lastModified: head["Last-Modified"]
      ) ?? false
    case .entityTag(let tag): head["ETag"] != tag
    case .digest: false
    }
  }
}
