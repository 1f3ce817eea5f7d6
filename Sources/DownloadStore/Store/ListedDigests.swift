/// The digests that the requests of a list require, to find two different ones for one URL.
///
/// The second one would replace the first, and nothing says which of them is right.
package struct ListedDigests: Sendable {
  /// By the hash of the URL and the algorithm, because a list may have millions of lines: the hash of
  /// the digest, and the position of the request.
  private var required: [Int: (digest: Int, position: Int)] = [:]

  /// Creates a value without digests.
  package init() {}

  /// Notes the digest of a request, unless an earlier one requires another of the same algorithm.
  ///
  /// - Parameters:
  ///   - request: The request. One of a document has no say: the user's digest replaces its own.
  ///   - position: Its position in the list.
  /// - Returns: The position of the earlier request with another digest; `nil` if there is none.
  package mutating func conflict(of request: DownloadRequest, at position: Int) -> Int? {
    guard let digest = request.digest, !request.isFromDocument else { return nil }
    var hasher = Hasher()
    hasher.combine(StoredText(request.url))
    hasher.combine(digest.algorithm)
    let place = hasher.finalize()
    guard let earlier = required[place] else {
      required[place] = (digest.hashValue, position)
      return nil
    }
    return earlier.digest == digest.hashValue ? nil : earlier.position
  }
}
