internal import ObjectStore

/// Finds the URL of the record for each addition with a key.
///
/// The primary key of a record is a URL, so the first request with a key chooses one of its URLs, and
/// further ones add theirs as mirrors (decision 0100). If other keys have chosen all of them, the digest
/// becomes the fragment of the URL, which no request contains.
///
/// URLs and keys are names of one kind, each of one record: a key that is the URL of a record stands for
/// that record, and so does a URL that is a key of one.
struct KeyedAdditions {
  /// A request of the batch with a key.
  private struct Claim {
    let key: StoredText
    let digest: Digest?
  }

  /// The URLs of the records with the keys and the URLs of the batch.
  private var urls: [StoredText: String] = [:]
  /// The requests that chose a URL, by the URL.
  private var claims: [StoredText: Claim] = [:]
  /// The keys of the store's records that have the URL of a request without a key as a key.
  private let knownKeys: Set<StoredText>
  /// Whether a request of the batch has a key.
  private let hasKeys: Bool

  /// Looks up the URLs of the additions among the keys of the store.
  ///
  /// - Throws: `StoreError`.
  init(_ additions: [Addition], in tx: borrowing StoreTransaction) throws {
    hasKeys = additions.contains { $0.request.key != nil }
    var found: Set<StoredText> = []
    // Most stores have no key: one lookup in the index shows it.
    if try tx.exists(DownloadRecord.where { $0.keys.any { $0 >= "" } }) {
      let plain = additions.lazy.filter { $0.request.key == nil }
      let texts = Set(plain.map { StoredText($0.request.url) }).map(\.text)
      try tx.forEach(DownloadRecord.where { $0.keys.any { $0.isIn(texts) } }) { record in
        found.formUnion(record.keys.map(StoredText.init))
        return true
      }
    }
    knownKeys = found
  }

  /// Returns an addition with the URL of its key's record, or with the URL for a new one.
  ///
  /// - Throws: ``RecordStoreError`` with `urlTaken` if the request has no digest, and each URL is that of
  ///   a download with another key or another digest; with `invalidURL` for a URL that is too long with
  ///   the digest; `StoreError`.
  mutating func resolved(
    _ addition: Addition,
    in tx: borrowing StoreTransaction
  ) throws -> Addition {
    if let key = addition.request.key { return try resolved(addition, by: key, in: tx) }
    guard hasKeys || !knownKeys.isEmpty else { return addition }
    let url = StoredText(addition.request.url)
    if urls[url] == nil, hasKeys || knownKeys.contains(url) {
      urls[url] = try tx.record(withURLOrKey: url.text)?.url ?? url.text
    }
    guard let known = urls[url], StoredText(known) != url else { return addition }
    return addition.keyedByURL().joining(known)
  }

  private mutating func resolved(
    _ addition: Addition,
    by key: String,
    in tx: borrowing StoreTransaction
  ) throws -> Addition {
    let request = addition.request
    if let url = urls[StoredText(key)] { return addition.joining(url) }
    var taken: DownloadRecord?
    /// The URL of the record that the request has with one of its URLs; `nil` if that is another one.
    func usable(_ url: String) throws -> String? {
      let name = urls[StoredText(url)] ?? url
      let known = try tx.record(withURLOrKey: name)
      let found = known?.url ?? name
      if known?.mayHave(key: key, request.digest) ?? true, isFree(found, for: request) {
        return found
      }
      taken = taken ?? known
      return nil
    }
    var url = try tx.record(withKeyOrURL: key)?.url
    for candidate in [request.url] + request.mirrors where url == nil {
      url = try usable(candidate)
    }
    if url == nil { url = try request.urlWithDigest().flatMap { try usable($0) } }
    guard let url else {
      let owner = taken.map { "download \($0.id)" } ?? "another request"
      throw RecordStoreError(
        .urlTaken,
        "'\(Redaction.url(request.url))' belongs to \(owner), which has another key or digest: "
          + "state the digest of the file to download both"
      )
    }
    urls[StoredText(key)] = url
    urls[StoredText(url)] = url
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

  /// Throws if the download has a key, or gets one, and requires another digest than a request.
  ///
  /// - Throws: ``RecordStoreError`` with `keyTaken`.
  func requireNoOtherDigest(
    _ digest: Digest?,
    gettingKey newKey: String?
  ) throws(RecordStoreError) {
    guard let key = keys.min() ?? newKey, let digest, let required = requiredDigest,
      digest.algorithm == required.algorithm, digest != required
    else { return }
    let name = Redaction.name(key)
    throw RecordStoreError(
      .keyTaken,
      "the download \(id) with the key '\(name)' requires \(required.text), not \(digest.text)"
    )
  }
}
