internal import ObjectStore

/// Finds the URL of the record for each addition with a key.
///
/// The primary key of a record is a URL, so the first request with a key chooses one of its URLs, and
/// further ones add theirs as mirrors (decision 0100). If other keys have chosen all of them, the digest
/// becomes the fragment of the URL, which no request contains.
struct KeyedAdditions {
  /// A request of the batch with a key.
  private struct Claim {
    let key: StoredText
    let digest: Digest?
  }

  /// The URLs of the keys of the batch.
  private var urls: [StoredText: String] = [:]
  /// The requests that chose a URL, by the URL.
  private var claims: [StoredText: Claim] = [:]

  /// Returns an addition with the URL of its key's record, or with the URL for a new one.
  ///
  /// - Throws: ``RecordStoreError`` with `urlTaken` if the request has no digest, and each URL is that of
  ///   a download with another key or another digest; with `invalidURL` for a URL that is too long with
  ///   the digest; `StoreError`.
  mutating func resolved(
    _ addition: Addition,
    in tx: borrowing StoreTransaction
  ) throws -> Addition {
    let request = addition.request
    guard let key = request.key else { return addition }
    if let url = urls[StoredText(key)] { return addition.joining(url) }
    var taken: DownloadRecord?
    func isUsable(_ url: String) throws -> Bool {
      let known = try tx.find(DownloadRecord.self, key: url)
      if known?.mayHave(key: key, request.digest) ?? true, isFree(url, for: request) { return true }
      taken = taken ?? known
      return false
    }
    var url = try tx.record(withKey: key)?.url
    if url == nil { url = try ([request.url] + request.mirrors).first(where: isUsable) }
    if url == nil { url = try request.urlWithDigest().flatMap { try isUsable($0) ? $0 : nil } }
    guard let url else {
      let owner = taken.map { "download \($0.id)" } ?? "another request"
      throw RecordStoreError(
        .urlTaken,
        "'\(Redaction.url(request.url))' is the URL of \(owner), which has another key or digest: "
          + "state the digest of the file to download both"
      )
    }
    urls[StoredText(key)] = url
    claims[StoredText(url)] = Claim(key: StoredText(key), digest: request.digest)
    return addition.joining(url)
  }

  /// Whether no other key of the batch has the URL, or the digests are the same.
  private func isFree(_ url: String, for request: DownloadRequest) -> Bool {
    guard let claim = claims[StoredText(url)] else { return true }
    return claim.digest != nil && claim.digest == request.digest
  }
}

extension DownloadRequest {
  /// The URL with the digest as its fragment; `nil` without a digest.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidURL` if it is too long.
  fileprivate func urlWithDigest() throws(RecordStoreError) -> String? {
    guard let digest else { return nil }
    let text = "\(url.withoutFragment)#\(digest.algorithm.rawValue)=\(digest.hexadecimal)"
    try RecordIdentity.validate(text)
    return text
  }
}

extension DownloadRecord {
  /// The digest that the file must have; `nil` if any file is accepted.
  private var requiredDigest: Digest? { expectedDigest.flatMap { try? Digest($0) } }

  /// Whether the file may also be that of a key: it has no other one, or the same digest.
  func mayHave(key: String, _ digest: Digest?) -> Bool {
    guard let digest, let required = requiredDigest else { return keys.isEmpty }
    return digest == required || keys.isEmpty && digest.algorithm != required.algorithm
  }

  /// Throws if the download has a key and requires another digest than a request.
  ///
  /// - Throws: ``RecordStoreError`` with `keyTaken`.
  func requireNoOtherDigest(_ digest: Digest?) throws(RecordStoreError) {
    guard !keys.isEmpty, let digest, let required = requiredDigest,
      digest.algorithm == required.algorithm, digest != required
    else { return }
    let key = Redaction.name(keys.sorted()[0])
    throw RecordStoreError(
      .keyTaken,
      "the download \(id) with the key '\(key)' requires \(required.text), not \(digest.text)"
    )
  }
}
