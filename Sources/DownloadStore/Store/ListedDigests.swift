/// The digests that the requests of a list require, to find different ones for one download.
///
/// Two of one algorithm contradict each other; of several algorithms, the strongest counts.
package struct ListedDigests: Sendable {
  /// By the hash of the download and the algorithm, because a list may have millions of lines: the
  /// hash of the digest, and the position of the request.
  private var required: [Int: (digest: Int, position: Int)] = [:]

  /// Creates a value without digests.
  package init() {}

  /// Notes the digest of a request, unless an earlier one requires another of the same algorithm.
  ///
  /// - Parameters:
  ///   - request: The request, which loses its digest if an earlier one has a stronger algorithm.
  ///     One of a document has no say: the user's digest replaces its own.
  ///   - position: Its position in the list.
  /// - Returns: The position of the earlier request with another digest; `nil` if there is none.
  package mutating func conflict(of request: inout DownloadRequest, at position: Int) -> Int? {
    guard let digest = request.digest, !request.isFromDocument else { return nil }
    let place = Self.place(of: request, digest.algorithm)
    if let earlier = required[place] {
      guard earlier.digest == digest.hashValue else { return earlier.position }
    } else {
      required[place] = (digest.hashValue, position)
    }
    let hasStronger = Digest.Algorithm.allCases.contains { algorithm in
      algorithm.isStronger(than: digest.algorithm)
        && required[Self.place(of: request, algorithm)] != nil
    }
    if hasStronger { request.digest = nil }
    return nil
  }

  /// A key identifies a download instead of its URL.
  private static func place(of request: DownloadRequest, _ algorithm: Digest.Algorithm) -> Int {
    var hasher = Hasher()
    hasher.combine(request.key != nil)
    hasher.combine(StoredText(request.key ?? request.url))
    hasher.combine(algorithm)
    return hasher.finalize()
  }
}
